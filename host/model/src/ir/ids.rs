//! Run and checkpoint ids: UUIDv7, sortable by creation, strictly increasing within one generator.

use uuid::Uuid;

/// Makes ids from a clock and randomness that the caller passes in, because this crate has neither.
///
/// Ids of one generator strictly increase even when the clock stands still or goes back; share one per process.
#[derive(Debug, Clone, Default)]
pub struct IdGenerator {
    milliseconds: u64,
    random: u128,
}

/// The 74 bits of a UUIDv7 that are not time, version or variant.
const RANDOM_BITS: u32 = 74;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;
/// The top bit is left clear, so that counting up has room before it must borrow a millisecond.
const FRESH_MASK: u128 = RANDOM_MASK >> 1;
const TIME_MASK: u64 = (1 << 48) - 1;

impl IdGenerator {
    /// The id of a new run. `unix_milliseconds` is now, `entropy` fresh random bytes.
    pub fn new_run_id(&mut self, unix_milliseconds: u64, entropy: [u8; 10]) -> Uuid {
        self.next(unix_milliseconds, entropy)
    }

    /// The id of a new checkpoint.
    pub fn new_checkpoint_id(&mut self, unix_milliseconds: u64, entropy: [u8; 10]) -> Uuid {
        self.next(unix_milliseconds, entropy)
    }

    fn next(&mut self, unix_milliseconds: u64, entropy: [u8; 10]) -> Uuid {
        let now = unix_milliseconds & TIME_MASK;
        if now > self.milliseconds {
            self.milliseconds = now;
            self.random = entropy
                .iter()
                .fold(0u128, |bits, byte| bits << 8 | u128::from(*byte))
                & FRESH_MASK;
        } else {
            self.random += 1;
            if self.random > RANDOM_MASK {
                self.random = 0;
                self.milliseconds = (self.milliseconds + 1) & TIME_MASK;
            }
        }
        let high = self.random >> 62;
        let low = self.random & ((1 << 62) - 1);
        Uuid::from_u128(u128::from(self.milliseconds) << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_are_version_7_and_strictly_increase_whatever_the_clock_does(
            ticks in prop::collection::vec((0u64..1 << 48, any::<[u8; 10]>()), 1..60),
        ) {
            let mut generator = IdGenerator::default();
            let ids: Vec<Uuid> = ticks.iter().map(|(now, entropy)| generator.new_run_id(*now, *entropy)).collect();
            for id in &ids {
                prop_assert_eq!(id.get_version_num(), 7);
                prop_assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
            }
            for pair in ids.windows(2) {
                prop_assert!(pair[0] < pair[1]);
                prop_assert!(pair[0].to_string() < pair[1].to_string());
            }
        }
    }

    #[test]
    fn the_time_is_readable_from_the_id() {
        let id = IdGenerator::default().new_checkpoint_id(1_700_000_000_123, [0xff; 10]);
        let (seconds, nanoseconds) = id.get_timestamp().unwrap().to_unix();
        assert_eq!((seconds, nanoseconds / 1_000_000), (1_700_000_000, 123));
    }
}
