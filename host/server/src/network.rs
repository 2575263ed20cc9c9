//! Which network an address belongs to, for whatever is shared out or limited by address.

use std::net::{IpAddr, Ipv6Addr};

/// The address itself, or its /64: one machine has a whole /64 of IPv6 to choose from.
pub(crate) fn of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_cannot_choose_its_network() {
        let check = |address: &str, expected: &str| {
            assert_eq!(
                super::of(address.parse().unwrap()).to_string(),
                expected,
                "{address}"
            );
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("2001:db8:1:2::1", "2001:db8:1:2::");
        check("::1", "::1");
    }
}
