//! Clients of the ResourceManager, the MapReduce ApplicationMaster and the JobHistoryServer. No decisions.
