//! The loop that ties the rooms together: facts in, passes of the engine, decisions out.
