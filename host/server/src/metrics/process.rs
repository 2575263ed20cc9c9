//! Memory and processor time of this process, under the names that Prometheus' own clients use. From `/proc`: elsewhere than on Linux
//! they are left out.

use std::fmt::Write as _;

/// What `/proc` counts processor time in. Linux fixes it for programs, whatever the kernel's own clock is.
const TICKS_PER_SECOND: f64 = 100.0;

pub(super) fn render(text: &mut String) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).ok();
    if let Some(bytes) = read("status").as_deref().and_then(resident) {
        let name = "process_resident_memory_bytes";
        let _ = write!(
            text,
            "# HELP {name} Resident memory.\n# TYPE {name} gauge\n{name} {bytes}\n"
        );
    }
    if let Some(seconds) = read("stat").as_deref().and_then(cpu) {
        let name = "process_cpu_seconds_total";
        let _ = write!(
            text,
            "# HELP {name} Processor time, user and system.\n# TYPE {name} counter\n{name} {seconds}\n"
        );
    }
}

/// Bytes, from `VmRSS: 123 kB`.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1_024)
}

/// Seconds: the 14th and 15th field. The second one is the program's name, which may hold spaces and parentheses.
fn cpu(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some((f64::from(ticks()?) + f64::from(ticks()?)) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_time_are_read_from_what_linux_writes() {
        let status = "Name:\tmizzen\nVmPeak:\t  900 kB\nVmRSS:\t  183000 kB\nThreads:\t9\n";
        assert_eq!(resident(status), Some(183_000 * 1_024));
        assert_eq!(resident("Name:\tkthread\n"), None);
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194560 2000 0 0 0 150 25 0 0 20 0 9 0 1000 0 0";
        assert_eq!(cpu(stat), Some(1.75));
        assert_eq!(cpu("invalid"), None);
    }
}
