//! Which addresses are public. Everything that is not is inside somebody's fence, perhaps ours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is reachable by everybody: not loopback, private, link-local (cloud metadata), shared, reserved,
/// multicast, documentation, or one of these inside an IPv6 address.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [a, b, ..] = segments;
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    // ISATAP (RFC 5214) carries an IPv4 address in the last half of any address.
    if let [_, _, _, _, 0 | 0x200, 0x5efe, high, low] = segments {
        return is_global_v6(a, b) && inner(high, low);
    }
    match segments {
        // NAT64 carries an IPv4 address, under this prefix in its last 32 bits (RFC 6052). Under the prefix for local use,
        // 64:ff9b:1::/48 (RFC 8215), only its network knows where, and it leads into that network: refused with the rest.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        // So does 6to4.
        [0x2002, high, low, ..] => inner(high, low),
        _ => is_global_v6(a, b),
    }
}

fn is_global_v6(a: u16, b: u16) -> bool {
    match (a, b) {
        // Teredo, ORCHID, benchmarking, documentation.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x3fff, _) => false,
        // Only global unicast is left: 2000::/3.
        _ => a & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_a_fence_are_not_public_however_they_are_written() {
        for text in [
            "127.0.0.1",
            "127.255.255.254",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b::6440:1",
            // The local NAT64 prefix: whatever its last 32 bits are.
            "64:ff9b:1::7f00:1",
            "64:ff9b:1::808:808",
            "64:ff9b:1:a00:0:100::",
            "64:ff9b:1:ffff::1",
            // Under the prefix of 96 bits, and not in it.
            "64:ff9b:0:1::808:808",
            "64:ff9b::1:808:808",
            "64:ff9c::808:808",
            "2002:a9fe:a9fe::1",
            "2002:c0a8:1::",
            // Teredo: server 65.54.227.120, client 192.0.2.45.
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:10::1",
            "2001:20::1",
            "2001:2::1",
            // ISATAP with a private address inside.
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:a00:1",
            "fe80::5efe:808:808",
            // IPv4-compatible and IPv4-translated.
            "::8.8.8.8",
            "::ffff:0:8.8.8.8",
            "::ffff:169.254.169.254",
            "::ffff:100.64.0.1",
            "::ffff:0.0.0.0",
            "5f00::1",
            "febf::1",
            "ff0e::1",
            "198.19.255.255",
            "192.0.0.170",
            "100::1",
            "3fff::1",
            "4000::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn ordinary_addresses_are_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "192.1.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2606:4700::5efe:808:808",
            "198.17.0.1",
            "198.20.0.1",
            "100.63.255.255",
            "191.255.255.255",
            "192.0.1.1",
            "223.255.255.255",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
