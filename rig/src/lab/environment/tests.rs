//! Tests of the environment over file trees that each test builds and removes.

use super::*;
use desk::record::{Adapter, Cache, KeyClass};
use desk::unit::Unit;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A tree under the temporary directory; gone when the test ends.
struct Fixture {
    root: PathBuf,
}

impl Fixture {
    fn new(test: &str) -> Self {
        let name = format!("stend-environment-{}-{test}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        Self { root }
    }

    fn files(&self, directory: &str, files: &[(&str, &str)]) -> &Self {
        for (name, content) in files {
            let path = self.root.join(directory).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        }
        self
    }

    fn link(&self, path: &str, target: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.root).unwrap();
    }
}

/// Eight CPUs in two sockets: CPU n and n+4 share a core, cores 0-1 are socket 0, 2-3 socket 1.
fn two_sockets(fixture: &Fixture) {
    for cpu in 0..8 {
        let (core, socket) = (cpu % 4, cpu % 4 / 2);
        let siblings = format!("{core},{}", core + 4);
        let all = if socket == 0 { "0-1,4-5" } else { "2-3,6-7" };
        let directory = format!("sys/devices/system/cpu/cpu{cpu}");
        fixture.files(
            &directory,
            &[
                ("topology/physical_package_id", &socket.to_string()),
                // Core numbers repeat in the second socket, as they do on real machines.
                ("topology/core_id", &(core % 2).to_string()),
                ("topology/thread_siblings_list", &siblings),
                ("cpufreq/cpuinfo_max_freq", "3600000"),
                ("cpufreq/scaling_governor", "performance"),
                ("cache/index0/level", "1"),
                ("cache/index0/type", "Data"),
                ("cache/index0/size", "48K"),
                ("cache/index0/shared_cpu_list", &siblings),
                ("cache/index3/level", "3"),
                ("cache/index3/type", "Unified"),
                ("cache/index3/size", "32768K"),
                ("cache/index3/shared_cpu_list", all),
            ],
        );
    }
    fixture.files(
        "sys/devices/system",
        &[
            ("cpu/online", "0-7"),
            ("cpu/smt/control", "on"),
            ("cpu/vulnerabilities/spectre_v2", "Mitigation: Enhanced IBRS"),
            ("cpu/vulnerabilities/meltdown", "Not affected"),
            ("node/node0/numastat", ""),
            ("node/node1/numastat", ""),
            ("clocksource/clocksource0/current_clocksource", "tsc"),
        ],
    );
}

/// An x8 adapter at 8 GT/s in a slot whose bridge runs x4, below a root port.
fn adapter_in_a_narrow_slot(fixture: &Fixture) {
    let port = "sys/devices/pci0000:00/0000:00:01.0";
    let bridge = format!("{port}/0000:01:00.0");
    let device = format!("{bridge}/0000:03:00.0");
    let link = |at: &str, width: &str, speed: &str| {
        fixture.files(at, &[("current_link_width", width), ("current_link_speed", speed)]);
    };
    link(port, "16", "16.0 GT/s PCIe");
    link(&bridge, "4", "8.0 GT/s PCIe");
    link(&device, "8", "8.0 GT/s PCIe");
    fixture.files(
        &device,
        &[
            ("max_link_width", "8"),
            ("max_link_speed", "8.0 GT/s PCIe"),
            ("vendor", "0x8086"),
            ("device", "0x1572"),
            ("numa_node", "1"),
            ("net/ens1/carrier", "1"),
            ("net/ens1/speed", "10000"),
            ("net/ens1/duplex", "full"),
            ("net/ens1/mtu", "9000"),
            ("net/ens1/queues/rx-0/rps_cpus", "0"),
            ("net/ens1/queues/rx-1/rps_cpus", "0"),
            ("net/ens1/queues/tx-0/xps_cpus", "0"),
        ],
    );
    fixture
        .files("sys/bus/pci/drivers/i40e", &[("new_id", "")])
        .link(&format!("{device}/driver"), "../../../../../bus/pci/drivers/i40e")
        .link(&format!("{device}/net/ens1/device"), "../../../0000:03:00.0")
        .link("sys/class/net/ens1", &format!("../../../{device}/net/ens1"));
}

#[test]
fn an_empty_tree_is_an_empty_environment() {
    let fixture = Fixture::new("empty");
    assert_eq!(observe(&fixture.root), Environment::default());
    assert_eq!(observe(&fixture.root.join("nowhere")), Environment::default());
}

#[test]
fn a_server_has_its_sockets_cores_and_caches_counted() {
    let fixture = Fixture::new("cpu");
    two_sockets(&fixture);
    fixture.files(
        "proc",
        &[
            ("cpuinfo", "processor\t: 0\nmodel name\t: Xeon 6338\nflags\t\t: fpu vme\n"),
            ("meminfo", "MemTotal:       65536 kB\nMemFree:   1 kB"),
        ],
    );
    let env = observe(&fixture.root);
    let cpu = &env.cpu;
    assert_eq!((cpu.sockets, cpu.cores, cpu.logical, cpu.numa_nodes), (2, 4, 8, 2));
    assert_eq!((cpu.model.as_str(), cpu.smt.as_deref()), ("Xeon 6338", Some("on")));
    assert_eq!(cpu.frequency_max, Some(Quantity::new(3.6e9, Unit::Hertz)));
    assert_eq!((cpu.governor.as_deref(), &cpu.hypervisor), (Some("performance"), &None));
    assert_eq!(env.memory, Some(Quantity::bytes(64 << 20)));
    let size = Quantity::bytes;
    let l1 = Cache { level: 1, kind: "Data".into(), size: size(48 << 10), shared_by: 2 };
    let l3 = Cache { level: 3, kind: "Unified".into(), size: size(32 << 20), shared_by: 4 };
    assert_eq!(env.caches, [l1, l3]);
}

#[test]
fn cpus_that_are_offline_are_not_counted() {
    let fixture = Fixture::new("offline");
    two_sockets(&fixture);
    fixture.files("sys/devices/system/cpu", &[("online", "0-1"), ("smt/control", "off")]);
    let cpu = observe(&fixture.root).cpu;
    assert_eq!((cpu.sockets, cpu.cores, cpu.logical), (1, 2, 2));
}

#[test]
fn a_bridge_that_narrows_the_way_to_an_adapter_is_named() {
    let fixture = Fixture::new("pcie");
    adapter_in_a_narrow_slot(&fixture);
    let env = observe(&fixture.root);
    let expected = Adapter {
        name: "ens1".into(),
        driver: Some("i40e".into()),
        bus: Some("0000:03:00.0".into()),
        device_id: Some("8086:1572".into()),
        pcie_now: Some("x4 at 8.0 GT/s (narrowest link, of bridge 0000:01:00.0)".into()),
        pcie_best: Some("x8 at 8.0 GT/s".into()),
        speed_now: Some(Quantity::new(1e10, Unit::BitPerSecond)),
        carrier: Some(true),
        mtu: 9000,
        tx_queues: 1,
        rx_queues: 2,
        numa_node: Some(1),
        physical: true,
        ..Adapter::default()
    };
    assert_eq!(env.adapters, [expected]);
    assert_eq!(env.fact("adapter.ens1.duplex"), Some("full"));
}

#[test]
fn a_way_as_wide_as_the_adapter_needs_no_remark() {
    let fixture = Fixture::new("wide");
    adapter_in_a_narrow_slot(&fixture);
    // x4 at 16 GT/s carries what x8 at 8 GT/s does.
    let bridge = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
    fixture.files(bridge, &[("current_link_speed", "16.0 GT/s PCIe")]);
    let adapter = observe(&fixture.root).adapters.remove(0);
    assert_eq!(adapter.pcie_now.as_deref(), Some("x8 at 8.0 GT/s"));
    assert_eq!(adapter.pcie_now, adapter.pcie_best);
}

#[test]
fn a_speed_without_a_carrier_is_not_believed() {
    let fixture = Fixture::new("unplugged");
    adapter_in_a_narrow_slot(&fixture);
    fixture.files("sys/class/net/ens1", &[("carrier", "0")]);
    let env = observe(&fixture.root);
    assert_eq!((env.adapters[0].speed_now, env.fact("adapter.ens1.duplex")), (None, None));
}

#[test]
fn a_virtio_guest_has_a_hypervisor_and_no_line_rate() {
    let fixture = Fixture::new("guest");
    let function = "sys/devices/pci0000:00/0000:00:03.0";
    let flags = "processor\t: 0\nflags\t\t: fpu hypervisor lm\nmicrocode\t: 0x1\n";
    fixture
        .files("proc", &[("cpuinfo", flags)])
        .files("sys/class/dmi/id", &[("sys_vendor", "QEMU"), ("product_name", "Standard PC")])
        .files(function, &[("vendor", "0x1af4"), ("device", "0x1041"), ("numa_node", "-1")])
        .files(
            &format!("{function}/virtio2/net/eth0"),
            &[("carrier", "1"), ("speed", "-1"), ("duplex", "unknown"), ("mtu", "1500")],
        )
        .link(&format!("{function}/virtio2/net/eth0/device"), "../../../virtio2")
        .link("sys/class/net/eth0", &format!("../../../{function}/virtio2/net/eth0"));
    let env = observe(&fixture.root);
    assert_eq!(env.cpu.hypervisor.as_deref(), Some("QEMU Standard PC"));
    assert_eq!((env.cpu.logical, env.fact("microcode")), (1, Some("0x1")));
    let expected = Adapter {
        name: "eth0".into(),
        bus: Some("0000:00:03.0".into()),
        device_id: Some("1af4:1041".into()),
        carrier: Some(true),
        mtu: 1500,
        physical: true,
        ..Adapter::default()
    };
    assert_eq!(env.adapters, [expected]);
}

#[test]
fn helpers_of_the_kernel_are_no_adapters_and_a_bond_is_one_without_a_rate() {
    let fixture = Fixture::new("virtual");
    for name in ["lo", "veth0", "ifb0", "dummy0", "br0", "bond0"] {
        let up = [("carrier", "1"), ("speed", "10000"), ("mtu", "1500")];
        fixture.files(&format!("sys/class/net/{name}"), &up);
    }
    fixture
        .files("sys/class/net/br0/bridge", &[("stp_state", "0")])
        .link("sys/class/net/br0/lower_veth0", "../veth0")
        .link("sys/class/net/bond0/lower_ens1", "../ens1");
    let adapters = observe(&fixture.root).adapters;
    let names: Vec<&str> = adapters.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["bond0"]);
    assert_eq!((adapters[0].physical, adapters[0].speed_now), (false, None));
}

#[test]
fn facts_are_sorted_and_carry_class_and_source() {
    let fixture = Fixture::new("facts");
    two_sockets(&fixture);
    fixture
        .files("etc", &[("os-release", "NAME=\"X\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"")])
        .files(
            "proc",
            &[("cmdline", "quiet mitigations=auto"), ("sys/kernel/osrelease", "6.18.44")],
        )
        .files("proc/sys/net/ipv4", &[("tcp_rmem", "4096\t131072\t33554432")])
        .files("sys/kernel/mm/transparent_hugepage", &[("enabled", "always [madvise] never")]);
    let env = observe(&fixture.root);
    let keys: Vec<&str> = env.facts.iter().map(|fact| fact.key.as_str()).collect();
    let expected = [
        "clocksource",
        "cpu.online",
        "kernel.cmdline.mitigations",
        "kernel.cmdline.rest",
        "kernel.cpu_accounting",
        "kernel.release",
        "mitigation.meltdown",
        "mitigation.spectre_v2",
        "os",
        "tcp.rmem",
        "thp",
    ];
    assert_eq!(keys, expected);
    assert_eq!(env.fact("os"), Some("Debian GNU/Linux 12"));
    assert_eq!(env.fact("tcp.rmem"), Some("4096 131072 33554432"));
    assert_eq!(env.fact("thp"), Some("madvise"));
    let fact = |key: &str| env.facts.iter().find(|fact| fact.key == key).unwrap();
    assert_eq!(fact("kernel.cmdline.rest").class, KeyClass::Info);
    assert_eq!(fact("kernel.release").class, KeyClass::Critical);
    assert_eq!(fact("kernel.release").source, "/proc/sys/kernel/osrelease");
    assert!(env.facts.iter().all(|fact| desk::record::known_key(&fact.key).is_some()));
}

#[test]
fn the_command_line_is_taken_apart_and_its_secrets_stay_in_it() {
    let fixture = Fixture::new("cmdline");
    let line = "BOOT_IMAGE=/vmlinuz root=UUID=1234-abcd mitigations=off isolcpus=2-7 nosmt \
                hugepagesz=1G hugepages=4 hugepagesz=2M intel_iommu=on cryptkey=secret -- \
                --token hush isolcpus=0";
    fixture.files("proc", &[("cmdline", line)]);
    let env = observe(&fixture.root);
    let said = |name: &str| env.fact(&format!("kernel.cmdline.{name}"));
    assert_eq!(said("mitigations"), Some("off"));
    assert_eq!((said("isolcpus"), said("nosmt")), (Some("2-7"), Some("on")));
    assert_eq!((said("hugepagesz"), said("hugepages")), (Some("1G, 2M"), Some("4")));
    assert_eq!(said("intel_iommu"), Some("on"));
    assert!(said("rest").is_some_and(|rest| rest.starts_with("3 other words, digest ")));
    let all = format!("{:?}", env.facts);
    for secret in ["1234-abcd", "secret", "hush", "vmlinuz"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    let rest = said("rest").map(str::to_owned);
    fixture.files("proc", &[("cmdline", &line.replace("1234", "5678"))]);
    let other = observe(&fixture.root);
    assert_ne!(other.fact("kernel.cmdline.rest").map(str::to_owned), rest, "a difference shows");
}

#[test]
fn serial_numbers_are_told_apart_and_not_told() {
    let fixture = Fixture::new("serial");
    let ids = "sys/class/dmi/id";
    fixture.files(ids, &[("product_serial", "CZ3000XYZ"), ("board_serial", "CZ3000XYZ")]);
    let env = observe(&fixture.root);
    let digest = env.fact("system.serial").unwrap();
    assert_eq!(Some(digest), env.fact("board.serial"));
    assert!(digest.len() == 12 && !format!("{:?}", env.facts).contains("CZ3000"));
    fixture.files(ids, &[("product_serial", "CZ3000XYW")]);
    assert_ne!(observe(&fixture.root).fact("system.serial"), Some(digest));
}

#[test]
fn the_tightest_limit_on_the_way_up_is_the_limit() {
    let fixture = Fixture::new("limits");
    fixture
        .files("proc/self", &[("cgroup", "12:cpuacct:/x\n0::/a/b")])
        .files("sys/fs/cgroup/a/b", &[("cpu.max", "max 100000"), ("memory.max", "max")])
        .files("sys/fs/cgroup/a", &[("cpu.max", "150000 100000"), ("memory.max", "1073741824")])
        .files("sys/fs/cgroup", &[("cpuset.cpus.effective", "0-3")])
        .files("run/systemd", &[("container", "lxc")]);
    let env = observe(&fixture.root);
    assert_eq!(env.fact("cgroup.cpu_quota"), Some("1.50 CPUs"));
    assert_eq!(env.fact("cgroup.memory_max"), Some("1073741824 B"));
    assert_eq!((env.fact("cgroup.cpus"), env.fact("container")), (Some("0-3"), Some("lxc")));
    fixture.files("sys/fs/cgroup/a", &[("cpu.max", "max 100000"), ("memory.max", "max")]);
    let env = observe(&fixture.root);
    let free = (env.fact("cgroup.cpu_quota"), env.fact("cgroup.memory_max"));
    assert_eq!(free, (Some("none"), Some("none")));
    let of_version_1 = |quota| {
        let files = [("cpu.cfs_quota_us", quota), ("cpu.cfs_period_us", "100000")];
        fixture
            .files("proc/self", &[("cgroup", "12:cpu,cpuacct:/x")])
            .files("sys/fs/cgroup/cpu/x", &files);
        observe(&fixture.root).fact("cgroup.cpu_quota").map(str::to_owned)
    };
    assert_eq!(of_version_1("50000").as_deref(), Some("0.50 CPUs"));
    assert_eq!(of_version_1("-1").as_deref(), Some("none"));
}

#[test]
fn turbo_and_preemption_are_said_in_a_word() {
    let fixture = Fixture::new("turbo");
    let cpu = "sys/devices/system/cpu";
    let version = "#1 SMP PREEMPT_DYNAMIC Thu Jan 1 00:00:00 UTC 2026";
    fixture.files(cpu, &[("cpufreq/boost", "0")]);
    fixture.files("proc/sys/kernel", &[("version", version)]);
    let env = observe(&fixture.root);
    assert_eq!(env.fact("cpu.turbo"), Some("off"));
    assert_eq!(env.fact("kernel.preemption"), Some("PREEMPT_DYNAMIC"));
    fixture.files(cpu, &[("intel_pstate/no_turbo", "0")]);
    fixture.files("proc/sys/kernel", &[("version", "#1 SMP Thu Jan 1")]);
    let env = observe(&fixture.root);
    assert_eq!(env.fact("cpu.turbo"), Some("on"), "Intel's own file says it the other way round");
    assert_eq!(env.fact("kernel.preemption"), Some("none"));
}

#[test]
fn how_cpu_time_is_kept_is_read_from_the_configuration_of_the_running_kernel() {
    let fixture = Fixture::new("accounting");
    fixture.files("proc", &[("sys/kernel/osrelease", "6.12.1-7")]);
    let said =
        |fixture: &Fixture| observe(&fixture.root).fact("kernel.cpu_accounting").map(str::to_owned);
    assert_eq!(said(&fixture).as_deref(), Some("not said by the kernel"));
    let tick = "CONFIG_TICK_CPU_ACCOUNTING=y\nCONFIG_IRQ_TIME_ACCOUNTING=y";
    fixture.files("boot", &[("config-6.12.1", "CONFIG_HZ=100"), ("config-6.12.1-7", tick)]);
    assert_eq!(said(&fixture).as_deref(), Some("tick samples; interrupts kept apart"));
}

#[test]
fn this_machine_has_a_cpu_and_memory() {
    let mut env = observe(Path::new("/"));
    complete_adapters(&mut env);
    assert!(env.cpu.logical > 0 && env.memory.is_some());
    assert!(env.fact("kernel.release").is_some());
}
