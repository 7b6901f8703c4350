//! Knows how a congestion control is set on a socket, and says why it is refused.

use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_congestion;
use std::os::fd::AsFd;

/// Sets it.
///
/// # Errors
/// In words for the person: whether this kernel lacks it, or has it and does not allow it here.
pub fn set<Fd: AsFd>(socket: Fd, name: &str) -> Result<(), String> {
    set_tcp_congestion(socket, name).map_err(|error| refusal(name, error, &listed))
}

fn refusal(name: &str, error: Errno, listed: &dyn Fn(&str) -> String) -> String {
    let (available, allowed) = (listed("available"), listed("allowed"));
    match error {
        Errno::NOENT => format!(
            "this kernel has no congestion control '{name}'; available: {available}; load its \
             module (tcp_{name}) or choose one of these"
        ),
        Errno::PERM => format!(
            "congestion control '{name}' is available but not allowed here without CAP_NET_ADMIN; \
             allowed: {allowed}; choose one of these, add it to \
             net.ipv4.tcp_allowed_congestion_control, or run as root"
        ),
        other => format!(
            "congestion control '{name}': {other}; available: {available}; allowed without \
             CAP_NET_ADMIN: {allowed}"
        ),
    }
}

fn listed(which: &str) -> String {
    let path = format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control");
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| e.to_string());
    text.trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_one_and_a_forbidden_one_are_told_apart() {
        let listed = |which: &str| match which {
            "available" => "reno bbr cubic".to_owned(),
            _ => "reno bbr".to_owned(),
        };
        let absent = refusal("vegas", Errno::NOENT, &listed);
        assert!(absent.contains("no congestion control 'vegas'"), "{absent}");
        assert!(absent.contains("available: reno bbr cubic"), "{absent}");
        let forbidden = refusal("cubic", Errno::PERM, &listed);
        assert!(forbidden.contains("'cubic' is available but not allowed"), "{forbidden}");
        assert!(forbidden.contains("allowed: reno bbr;"), "{forbidden}");
    }

    #[test]
    fn the_kernels_own_list_is_in_the_refusal() {
        let socket = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
        let refusal = set(&socket, "nosuchcontrol").unwrap_err();
        let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let available = std::fs::read_to_string(file).unwrap();
        assert!(refusal.contains(available.trim()), "{refusal}");
    }
}
