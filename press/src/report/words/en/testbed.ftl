testbed-title = Test bed
testbed-hosts = { $clients ->
    [one] { $clients } client host
   *[other] { $clients } client hosts
} and the system under test were made on { $apart ->
    [yes] { $machines } machines
   *[no] this one machine
}, joined by { $links ->
    [one] { $links } link
   *[other] { $links } links
}: { $names }.
testbed-client-rate = Each client was held to { $rate }.
lab-root-namespaces = The hosts are network namespaces made as root, each with a network stack of its own: { $why }.
lab-root-namespaces-plain = The hosts are network namespaces made as root, each with a network stack of its own.
lab-user-namespaces-plain = The hosts are network namespaces of an ordinary user, each with a network stack of its own.
lab-user-namespaces = The hosts are network namespaces of an ordinary user: { $why }.
lab-loopback = The hosts are processes on the loopback interface: { $why }.
lab-loopback-plain = The hosts are processes on the loopback interface.
lab-simulated = This run is simulated: no host, link or clock is real, and every figure comes from a model: { $why }.
lab-simulated-plain = This run is simulated: no host, link or clock is real.
lab-unknown = The record does not say how the hosts were made.
lab-short-root-namespaces = network namespaces (root)
lab-short-user-namespaces = network namespaces (user)
lab-short-loopback = loopback
lab-short-alone = this machine alone
lab-short-simulated = SIMULATED
lab-short-machines = { $count } machines
lab-short-unknown = lab not recorded

fact-processor = Processor
fact-processor-cores = Cores
fact-cores = { $sockets ->
    [one] { $sockets } socket
   *[other] { $sockets } sockets
}, { $cores ->
    [one] { $cores } core
   *[other] { $cores } cores
}, { $logical ->
    [one] { $logical } logical CPU
   *[other] { $logical } logical CPUs
}, { $nodes ->
    [one] { $nodes } NUMA node
   *[other] { $nodes } NUMA nodes
}
fact-smt = Simultaneous multithreading
fact-smt-unsupported = not supported
fact-frequency = Highest frequency
fact-governor = Frequency governor
fact-hypervisor = Hypervisor
fact-caches = Caches
fact-cache = L{ $level } { $kind ->
    [data] data
    [instruction] instruction
    [unified] unified
   *[other] { $name }
} { $size }
fact-memory = Main memory
fact-kernel = Kernel
fact-not-said = not available
fact-unnamed = unidentified hypervisor
fact-none = none seen

machines-caption = Machines of the lab
machines-name = Machine
machines-hosts = Hosts
machines-adapters = Adapters by link
adapters-caption = Network adapters of the machine
adapters-caption-idle = Network adapters of the machine, which carried none of the load
adapters-caption-links = Network adapters on the links of the lab
links-note = Links are virtual: a bridge, and a veth pair to the server and to every client. Settings that the plan leaves alone (other offloads, checksums, queueing disciplines) are the kernel’s defaults and were not read back.
testbed-segments = Virtual links pass a large segment on whole and never cut it. A gain by a segmentation offload here is saved work of the network stack. It does not foretell the gain on an adapter, which must cut segments.
adapters-none = The machine has no network adapter besides the loopback interface.
adapter-property = Property
adapter-driver = Driver
adapter-driver-version = Driver version
adapter-firmware = Firmware
adapter-bus = Bus address
adapter-device = Vendor and device
adapter-pcie = PCIe, now
adapter-pcie-best = PCIe, at best
adapter-speed = Line rate, now
adapter-speed-best = Line rate, at best
adapter-carrier = Carrier
adapter-mtu = MTU
adapter-queues = Queues, transmit and receive
adapter-queue-pair = { $transmit } and { $receive }
adapter-rings = Rings, transmit and receive
adapter-ring-pair = { $transmit } and { $receive } descriptors
adapter-numa = NUMA node
adapter-offloads = Offloads on
adapter-physical = On a bus
word-yes = yes
word-no = no

links-caption = What the plan set on the hosts and the links
link-name = Where
link-every-host = every host
link-settings = Settings
link-default = kernel defaults
made-caption = As read back while the load ran
made-setting = Setting
made-value = Value
made-congestion = congestion control
made-streams = total streams
made-note-engine = Engine: sys hands over one request in a system call whatever the queue depth of the plan, batch several; the queue depth here is how many it was.
made-note-placement = Placement: same, both ends of a stream run on one CPU; spread, on two; none, where the scheduler puts them.
made-note-streams = Total streams: those of all clients, doubled where they run both ways.
