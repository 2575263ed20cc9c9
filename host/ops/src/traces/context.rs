//! Which trace a span belongs to, and how that travels in `traceparent` (W3C Trace Context).

use mizzen_model::hex;

/// A span's place in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanContext {
    trace: [u8; 16],
    span: [u8; 8],
    sampled: bool,
}

impl SpanContext {
    /// Reads `00-TRACE-SPAN-FLAGS`. What is not one is as good as none: the trace begins here.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let [version] = hex::decode::<1>(version)?;
        let (trace, span, [flags]) = (
            hex::decode::<16>(trace)?,
            hex::decode::<8>(span)?,
            hex::decode::<1>(flags)?,
        );
        // Later versions may say more after the flags; this one may not.
        let fits = version != 0xff && (version != 0 || parts.next().is_none());
        (fits && trace != [0; 16] && span != [0; 8]).then_some(Self {
            trace,
            span,
            sampled: flags & 1 == 1,
        })
    }

    pub(super) fn root(random: &[u8; 32]) -> Self {
        let [trace @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = *random;
        Self {
            trace,
            span: span_id(random),
            sampled: true,
        }
    }

    pub(super) fn child(self, random: &[u8; 32]) -> Self {
        Self {
            span: span_id(random),
            ..self
        }
    }

    pub(super) fn sampled(self, sampled: bool) -> Self {
        Self { sampled, ..self }
    }

    pub(super) fn is_sampled(self) -> bool {
        self.sampled
    }

    pub(super) fn trace_id(&self) -> &[u8; 16] {
        &self.trace
    }

    pub(super) fn span_id(&self) -> &[u8; 8] {
        &self.span
    }
}

/// The half of the random bytes that a root does not use for its trace. Never all zero, which would mean none.
fn span_id(random: &[u8; 32]) -> [u8; 8] {
    let [.., a, b, c, d, e, f, g, h] = *random;
    [a, b, c, d, e, f, g, h | 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_as_the_standard_says_and_everything_else_is_none() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = SpanContext::parse(good).unwrap();
        assert!(context.is_sampled());
        assert_eq!(context.trace_id()[0], 0x0a);
        assert_eq!(context.span_id()[7], 0x31);
        let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
        assert!(!SpanContext::parse(unsampled).unwrap().is_sampled());
        let later = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes";
        assert!(SpanContext::parse(later).is_some());
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319cé-b7ad6b7169203331-01",
        ] {
            assert_eq!(SpanContext::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_child_stays_in_its_parents_trace_and_gets_an_id_of_its_own() {
        let root = SpanContext::root(&[7; 32]);
        let child = root.child(&[9; 32]);
        assert_eq!(child.trace_id(), root.trace_id());
        assert_ne!(child.span_id(), root.span_id());
        assert_ne!(SpanContext::root(&[0; 32]).span_id(), &[0; 8]);
    }
}
