"""The lab: a real Hadoop cluster on one machine, and what is built, tested and shown with it."""
