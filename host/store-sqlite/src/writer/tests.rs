//! The writer alone, with work that the port has no words for.

use super::*;
use crate::error::Stop;

type Work = dyn Fn(&Connection) -> Result<(), Stop<()>> + Send;

/// What came of a piece of work. None when it was refused.
type Worked = Result<Option<()>, StoreError>;

struct Piece {
    work: Box<Work>,
    result: Worked,
    reply: oneshot::Sender<Worked>,
}

impl Job for Piece {
    fn work(&mut self, connection: &Connection) -> Done {
        match (self.work)(connection) {
            Ok(()) => {
                self.result = Ok(Some(()));
                Done::Keep
            }
            Err(Stop::Refused(())) => {
                self.result = Ok(None);
                Done::Undo
            }
            Err(Stop::Sql(error)) => {
                self.result = Err(fault(&error));
                Done::Failed(error)
            }
        }
    }

    fn answer(self, fault: Option<StoreError>) {
        let _ = self.reply.send(fault.map_or(self.result, Err));
    }
}

async fn run(
    writer: &Writer<Piece>,
    work: impl Fn(&Connection) -> Result<(), Stop<()>> + Send + 'static,
) -> Worked {
    let (reply, answer) = oneshot::channel();
    let piece = Piece {
        work: Box::new(work),
        result: Ok(None),
        reply,
    };
    writer.send(piece).await?;
    answer.await.unwrap()
}

fn start(folder: &std::path::Path) -> (Writer<Piece>, Arc<Stats>) {
    let path = folder.join("test.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
             CREATE TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
             CREATE TABLE log (n INTEGER UNIQUE, body BLOB);",
        )
        .unwrap();
    let stats = Arc::new(Stats::default());
    (
        Writer::start(connection, path, Arc::clone(&stats)).unwrap(),
        stats,
    )
}

async fn insert(writer: &Writer<Piece>, n: i64) -> Worked {
    run(writer, move |connection| {
        connection.execute("INSERT INTO log (n) VALUES (?1)", [n])?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn writes_that_wait_together_share_commits_and_each_gets_its_own_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, stats) = start(folder.path());
    let writer = Arc::new(writer);
    let (held, hold) = std::sync::mpsc::channel::<()>();
    let (began, mut begun) = mpsc::unbounded_channel();
    let first = tokio::spawn({
        let writer = Arc::clone(&writer);
        async move {
            let blocked = run(&writer, move |_| {
                let _ = began.send(());
                hold.recv().unwrap();
                Ok(())
            });
            blocked.await.is_ok()
        }
    });
    // Only now: the writer has taken the first write alone, so all the others wait together.
    begun.recv().await.unwrap();
    let tasks: Vec<_> = (0..100)
        .map(|n| {
            let writer = Arc::clone(&writer);
            // Every number twice: half of the writes break the unique index and must not take the others along.
            tokio::spawn(async move { insert(&writer, n / 2).await.is_ok() })
        })
        .collect();
    while writer.queue.capacity() > QUEUE - 100 {
        tokio::task::yield_now().await;
    }
    held.send(()).unwrap();
    assert!(first.await.unwrap());
    let mut done = 0;
    for task in tasks {
        done += usize::from(task.await.unwrap());
    }
    assert_eq!(done, 50);
    assert!(stats.commits() <= 3, "{} commits", stats.commits());
}

#[tokio::test]
async fn a_refused_write_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, _) = start(folder.path());
    let refused = run(&writer, |connection| {
        connection.execute("INSERT INTO log (n) VALUES (1)", [])?;
        Err(Stop::Refused(()))
    });
    assert!(matches!(refused.await, Ok(None)));
    assert!(matches!(insert(&writer, 1).await, Ok(Some(()))));
}

#[tokio::test]
async fn a_commit_that_fails_poisons_the_store_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, _) = start(folder.path());
    // A deferred constraint lets every statement succeed and fails COMMIT itself.
    let failed = run(&writer, |connection| {
        connection.execute("INSERT INTO child (id) VALUES (1)", [])?;
        Ok(())
    });
    assert!(matches!(failed.await, Err(StoreError::Unknown)));
    assert_eq!(writer.durability(), Durability::Unknown);
    writer.poisoned().await;
    assert!(matches!(insert(&writer, 1).await, Err(StoreError::Unknown)));
}

#[tokio::test]
async fn a_full_database_refuses_writes_and_takes_them_again_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, _) = start(folder.path());
    let limit = |pages: i64| {
        run(&writer, move |connection| {
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            Ok(())
        })
    };
    let large = || {
        run(&writer, |connection| {
            connection.execute("INSERT INTO log (body) VALUES (zeroblob(1000000))", [])?;
            Ok(())
        })
    };
    limit(20).await.unwrap();
    assert!(matches!(large().await, Err(StoreError::Full { .. })));
    assert_eq!(writer.durability(), Durability::Full);
    limit(1_000_000).await.unwrap();
    large().await.unwrap();
    assert_eq!(writer.durability(), Durability::Committed);
}
