//! The suite that every backend passes, on a file and in memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod on_a_file {
    use mizzen_store::Store;
    use mizzen_store::conformance::Fixture;
    use mizzen_store_sqlite::{Options, SqliteStore};

    struct Folder(tempfile::TempDir);

    impl Fixture for Folder {
        fn open(&self) -> Store {
            let opened = SqliteStore::open(self.0.path(), &Options::default());
            opened.unwrap().store()
        }
    }

    fn fixture() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    mizzen_store::conformance!(fixture);
}

mod in_memory {
    use mizzen_store::Store;
    use mizzen_store::conformance::Fixture;
    use mizzen_store_sqlite::{Fate, Fates, MemoryStore};
    use std::sync::Arc;

    struct Always;

    impl Fates for Always {
        fn next(&self) -> Fate {
            Fate::Done
        }
    }

    struct Memory(MemoryStore);

    impl Fixture for Memory {
        fn open(&self) -> Store {
            self.0.beside(Arc::new(Always)).store()
        }
    }

    fn fixture() -> Memory {
        Memory(MemoryStore::new(Arc::new(Always)).unwrap())
    }

    mizzen_store::conformance!(fixture);
}
