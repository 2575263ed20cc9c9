//! What a backend must do, whatever it keeps its rows in: every operation, every refusal, cursors, and writers that race.
//!
//! A backend runs all of it in a test file of its own:
//!
//! ```ignore
//! mizzen_store::conformance!(fixture);   // fn fixture() -> impl mizzen_store::conformance::Fixture
//! ```
//!
//! Every case is a test with the case's name, on a fixture of its own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod api_keys;
mod audit;
mod councils;
mod cursors;
mod erasures;
mod governance;
mod idempotency;
mod outbox;
mod plugin_kv;
mod races;
mod run_history;
mod runs;
mod sample;
mod sprites;
mod upkeep;

use crate::Store;
use std::future::Future;

/// A store of its own for one case.
pub trait Fixture {
    /// Opens the store as one more process would. The first one finds it empty.
    fn open(&self) -> Store;
}

/// Plays a case.
pub fn play(case: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(case);
}

/// Names every case once; a case that is not here has no caller, which the compiler reports.
macro_rules! cases {
    ($dollar:tt $($aggregate:ident { $($case:ident)+ })+) => {
        /// The cases, for `conformance!`.
        pub mod case {
            $(
                /// Of one aggregate.
                pub mod $aggregate {
                    use crate::conformance::Fixture;
                    $(
                        #[doc = concat!("Plays `", stringify!($case), "`.")]
                        pub fn $case(fixture: &dyn Fixture) {
                            crate::conformance::play(crate::conformance::$aggregate::$case(fixture));
                        }
                    )+
                }
            )+
        }

        /// Makes a test of every case of the suite. Takes the name of a function that returns a fixture.
        #[macro_export]
        macro_rules! conformance {
            ($dollar fixture:ident) => {
                $(
                    mod $aggregate {
                        $(
                            #[test]
                            fn $case() {
                                $dollar crate::conformance::case::$aggregate::$case(&super::$dollar fixture());
                            }
                        )+
                    }
                )+
            };
        }
    };
}

cases! { $
    sprites {
        a_sprite_is_read_as_it_was_written
        pages_follow_each_other_without_gap_or_repeat_under_every_filter
        a_page_stops_before_it_grows_without_bound
        a_change_from_an_old_revision_is_refused
        a_name_and_a_version_are_those_of_one_sprite
        a_sprite_that_a_council_holds_is_deleted_only_by_force
    }
    councils {
        a_council_is_read_as_it_was_written
        a_council_needs_its_sprites_whenever_it_is_stored
        a_domain_and_a_chain_are_those_of_one_council
        a_change_from_an_old_revision_is_refused
        a_kept_council_is_the_one_that_is_stored
        pages_of_councils_follow_each_other
    }
    runs {
        a_run_is_read_as_it_was_written
        a_run_that_ends_in_its_first_write_is_never_open
        a_writer_that_is_behind_is_refused_and_leaves_nothing
        events_that_do_not_follow_each_other_are_refused
        a_rewritten_journal_takes_the_place_of_the_one_before
        a_second_run_with_the_same_id_changes_nothing
        journals_of_open_runs_come_together_and_ended_ones_are_left_out
        a_journal_is_read_in_pieces
    }
    run_history {
        totals_are_exact_for_every_filter
        pages_come_newest_first_by_offset_and_by_cursor
        a_time_takes_in_its_beginning_and_leaves_out_its_end
        a_page_of_large_results_is_cut
    }
    erasures {
        an_erased_run_leaves_its_hashes_and_shared_definitions_stay_for_the_others
        pages_of_erasable_runs_go_on_where_the_last_one_ended
        what_is_not_as_it_was_read_is_passed_over
    }
    outbox {
        deliveries_are_due_in_order_and_pass_over_destinations
        a_try_is_counted_and_one_that_is_not_pending_stays
        only_a_delivery_that_was_given_up_is_made_again
    }
    audit {
        every_write_leaves_its_entry_and_a_refusal_none
        entries_are_chained_and_a_kept_head_is_held
        pages_of_the_log_come_newest_first_under_every_filter
    }
    api_keys {
        a_key_is_live_until_it_is_revoked_or_expires
        keys_are_listed_in_the_order_of_their_creation
    }
    idempotency {
        a_key_gives_the_first_answer_again_and_refuses_another_request
        a_run_is_begun_once_for_a_key
        a_council_is_stored_once_for_a_key
        scopes_do_not_share_keys_and_a_refused_write_keeps_none
    }
    plugin_kv {
        plugins_keep_their_keys_apart_and_within_their_quota
        keys_are_listed_in_byte_order_from_a_prefix_on
    }
    governance {
        packs_are_added_with_their_signers_and_replaced_as_a_whole
    }
    cursors {
        a_cursor_is_read_back_by_the_store_that_wrote_it
        what_no_page_ended_with_is_refused
    }
    upkeep {
        what_was_written_is_there_after_closing_and_opening_again
        a_closed_store_reads_and_writes_nothing
        an_untouched_store_is_in_order
        writes_and_commits_are_counted
    }
    races {
        of_two_writers_of_a_run_exactly_one_goes_on
        of_many_councils_for_one_domain_exactly_one_is_stored
        of_two_changes_from_one_revision_exactly_one_is_made
        a_sprite_is_not_deleted_while_a_council_takes_it
        a_key_that_two_send_at_once_is_used_once
        quotas_and_the_audit_chain_hold_when_two_write
        a_write_whose_reply_was_lost_is_found_and_not_made_twice
    }
}
