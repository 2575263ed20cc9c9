//! Nothing: the tests beside it read the repository itself.
