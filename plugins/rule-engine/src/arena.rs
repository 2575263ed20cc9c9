//! Where an evaluation's memory comes from: one stretch, from one end to the other.
//!
//! An instance answers one question and is thrown away, so nothing that the answer takes need ever be found again: what is given
//! back is forgotten, unless it was the last. That makes memory nearly free, and what an evaluation writes lies side by side, so
//! that few pages have to be put back after it. What does not fit comes from the usual allocator, as does everything that lives
//! longer than an evaluation.
//!
//! The only unsafe code of the engine, and compiled for a guest alone: what could go wrong here, goes wrong inside of the sandbox.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};

/// Twice what an evaluation of a few dozen facts takes.
const SIZE: usize = 64 << 10;

/// No type here needs more.
const ALIGNED: usize = 16;

#[repr(align(16))]
struct Stretch(UnsafeCell<[u8; SIZE]>);

/// The guest's allocator.
#[repr(C)]
pub(crate) struct Arena {
    /// How much of the stretch there is to take: nothing until it is opened. All of it begins as zeros, which take no room in a file.
    open: Cell<usize>,
    /// How much is taken. In front of the stretch, so that both begin on one page.
    taken: Cell<usize>,
    stretch: Stretch,
}

// SAFETY: a guest has one thread.
unsafe impl Sync for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self {
            open: Cell::new(0),
            taken: Cell::new(0),
            stretch: Stretch(UnsafeCell::new([0; SIZE])),
        }
    }

    /// From now on memory is taken from the stretch.
    pub(crate) fn open(&self) {
        self.open.set(SIZE);
    }

    fn base(&self) -> *mut u8 {
        self.stretch.0.get().cast()
    }

    /// Where in the stretch a block lies, if it does.
    fn place(&self, block: *mut u8) -> Option<usize> {
        let place = (block as usize).wrapping_sub(self.base() as usize);
        (place < SIZE).then_some(place)
    }

    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let place = self.taken.get().checked_next_multiple_of(layout.align())?;
        let end = place.checked_add(layout.size())?;
        if end > self.open.get() || layout.align() > ALIGNED {
            return None;
        }
        self.taken.set(end);
        // SAFETY: `place` is inside of the stretch.
        Some(unsafe { self.base().add(place) })
    }
}

// SAFETY: blocks of the stretch do not overlap, since `taken` only goes back to the beginning of the last block when that one is
// given back; everything else is the system allocator's.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(block) => block,
            // SAFETY: as asked.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.place(block) {
            Some(place) => {
                if place + layout.size() == self.taken.get() {
                    self.taken.set(place);
                }
            }
            // SAFETY: not from the stretch, so from the system.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(place) = self.place(block) else {
            // SAFETY: not from the stretch, so from the system.
            return unsafe { System.realloc(block, layout, size) };
        };
        let last = place + layout.size() == self.taken.get();
        if last && size <= SIZE - place {
            self.taken.set(place + size);
            return block;
        }
        if size <= layout.size() {
            return block;
        }
        // SAFETY: the new layout is valid as the caller promises; the blocks do not overlap, and both hold the old size.
        unsafe {
            let larger = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !larger.is_null() {
                std::ptr::copy_nonoverlapping(block, larger, layout.size());
            }
            larger
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block, and the byte that it was filled with.
    struct Block {
        at: *mut u8,
        layout: Layout,
        byte: u8,
    }

    impl Block {
        fn fill(at: *mut u8, layout: Layout, byte: u8) -> Self {
            assert!(!at.is_null() && (at as usize).is_multiple_of(layout.align()));
            // SAFETY: the block was just given out with this layout.
            unsafe { at.write_bytes(byte, layout.size()) };
            Self { at, layout, byte }
        }

        fn is_whole(&self, size: usize) -> bool {
            // SAFETY: the block holds as much, and all of it was written.
            let bytes = unsafe { std::slice::from_raw_parts(self.at, size) };
            bytes.iter().all(|byte| *byte == self.byte)
        }
    }

    /// Blocks of all sizes are taken, made larger and smaller, and given back, inside of the stretch and beyond it: nobody's bytes change.
    #[test]
    fn blocks_never_overlap() {
        let arena = Box::new(Arena::new());
        let mut dice = 7_u32;
        let mut roll = |sides: usize| {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (dice >> 8) as usize % sides
        };
        let mut blocks: Vec<Block> = Vec::new();
        let (mut inside, mut beyond) = (0, 0);
        for turn in 0..20_000 {
            if turn == 100 {
                arena.open();
            }
            let byte = roll(256) as u8;
            match roll(3) {
                0 => {
                    let most = if roll(8) == 0 { 5_000 } else { 60 };
                    let size = 1 + roll(most);
                    let layout = Layout::from_size_align(size, 1 << roll(7)).unwrap();
                    // SAFETY: the layout has a size.
                    let at = unsafe { arena.alloc(layout) };
                    match arena.place(at) {
                        Some(_) => inside += 1,
                        None => beyond += 1,
                    }
                    blocks.push(Block::fill(at, layout, byte));
                }
                1 if !blocks.is_empty() => {
                    let last = roll(2) == 0;
                    let place = if last {
                        blocks.len() - 1
                    } else {
                        roll(blocks.len())
                    };
                    let before = blocks.swap_remove(place);
                    let size = 1 + roll(before.layout.size() * 2);
                    // SAFETY: the block is one of the arena's, with this layout; the new size is not zero.
                    let at = unsafe { arena.realloc(before.at, before.layout, size) };
                    let kept = Block { at, ..before };
                    assert!(kept.is_whole(size.min(kept.layout.size())), "turn {turn}");
                    let layout = Layout::from_size_align(size, kept.layout.align()).unwrap();
                    blocks.push(Block::fill(at, layout, byte));
                }
                _ if !blocks.is_empty() => {
                    let block = blocks.swap_remove(roll(blocks.len()));
                    assert!(block.is_whole(block.layout.size()), "turn {turn}");
                    // SAFETY: the block is one of the arena's, with this layout.
                    unsafe { arena.dealloc(block.at, block.layout) };
                }
                _ => {}
            }
        }
        assert!(inside > 100 && beyond > 100, "{inside} inside, {beyond} beyond");
        for block in blocks {
            assert!(block.is_whole(block.layout.size()));
            // SAFETY: as above.
            unsafe { arena.dealloc(block.at, block.layout) };
        }
    }
}
