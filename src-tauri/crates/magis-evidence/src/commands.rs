//! The test commands of a project: found in its files, or given by a person.
