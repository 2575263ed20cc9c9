//! What happens, and in what order.
