//! Packages, signatures, trust and the load plan.
