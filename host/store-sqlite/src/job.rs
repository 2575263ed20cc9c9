//! What the writer performs: the port's writes, and what SQLite itself needs.

use crate::error::{Stop, fault};
use crate::space::GiveBack;
use crate::upkeep::Probe;
use crate::writer::{Done, Job};
use mizzen_store::{Operation, Request, StoreError, Write, WriteError};
use rusqlite::Connection;

/// An operation in SQL. It may be performed twice: the transaction begins again when another write of it has to be undone.
pub(crate) trait Perform: Operation {
    fn perform(&self, connection: &Connection) -> Result<Self::Reply, Stop<Self::Refusal>>;
}

/// One unit of work of the writer.
pub(crate) enum StoreJob {
    Write(Write),
    Probe(Box<Request<Probe>>),
    GiveBack(Box<Request<GiveBack>>),
}

impl Job for StoreJob {
    fn work(&mut self, connection: &Connection) -> Done {
        match self {
            Self::Write(write) => work(write, connection),
            Self::Probe(request) => perform(request, connection),
            Self::GiveBack(request) => perform(request, connection),
        }
    }

    fn answer(self, fault: Option<StoreError>) {
        match self {
            Self::Write(write) => write.answer(fault),
            Self::Probe(request) => request.answer(fault),
            Self::GiveBack(request) => request.answer(fault),
        }
    }
}

fn work(write: &mut Write, connection: &Connection) -> Done {
    match write {
        Write::CreateSprite(request) => perform(request, connection),
        Write::UpdateSprite(request) => perform(request, connection),
        Write::DeleteSprite(request) => perform(request, connection),
        Write::CreateCouncil(request) => perform(request, connection),
        Write::UpdateCouncil(request) => perform(request, connection),
        Write::DeleteCouncil(request) => perform(request, connection),
        Write::StartRun(request) => perform(request, connection),
        Write::AppendRun(request) => perform(request, connection),
        Write::EraseRuns(request) => perform(request, connection),
        Write::Redeliver(request) => perform(request, connection),
        Write::RecordDelivery(request) => perform(request, connection),
        Write::RecordAudit(request) => perform(request, connection),
        Write::CreateApiKey(request) => perform(request, connection),
        Write::RevokeApiKey(request) => perform(request, connection),
        Write::SetKv(request) => perform(request, connection),
        Write::DeleteKv(request) => perform(request, connection),
        Write::ClearKv(request) => perform(request, connection),
        Write::AddGoverningPacks(request) => perform(request, connection),
        Write::ReplaceGoverningPacks(request) => perform(request, connection),
    }
}

fn perform<O: Perform>(request: &mut Request<O>, connection: &Connection) -> Done {
    match request.operation().perform(connection) {
        Ok(reply) => {
            request.settle(Ok(reply));
            Done::Keep
        }
        Err(Stop::Refused(refusal)) => {
            request.settle(Err(WriteError::Refused(refusal)));
            Done::Undo
        }
        Err(Stop::Sql(error)) => {
            request.settle(Err(WriteError::Store(fault(&error))));
            Done::Failed(error)
        }
    }
}
