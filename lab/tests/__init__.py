"""Tests of the lab itself: nothing here boots a cluster."""
