testbed-title = Test bed
testbed-hosts = { $clients ->
    [one] { $clients } client host
   *[other] { $clients } client hosts
} and the system under test were made on this one machine, joined by { $links ->
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
lab-unknown = How the hosts were made was not recorded.
lab-short-root-namespaces = network namespaces (root)
lab-short-user-namespaces = network namespaces (user)
lab-short-loopback = loopback
lab-short-alone = this machine alone
lab-short-simulated = SIMULATED
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
fact-cache = L{ $level } { $kind } { $size }
fact-memory = Main memory
fact-kernel = Kernel
fact-not-said = the machine does not say
fact-unnamed = there is one; it does not say its name
fact-none = none seen

adapters-caption = Network adapters of the machine
adapters-caption-idle = Network adapters of the machine, which carried none of the load
links-note = A link is virtual: a bridge, and a veth pair to the server and to every client. What the plan did not set (other offloads, checksums, queueing disciplines) stood as the kernel makes it and was not read back.
testbed-segments = Between processes on virtual links a large segment is passed on whole and never cut. What an offload of segments gains here is saved work of the network stack; it does not foretell what an adapter gains that must cut them.
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
made-streams = streams in all
made-note-engine = Engine: sys hands over one request in a system call whatever the queue depth of the plan, batch several; the queue depth here is how many it was.
made-note-placement = Placement: same, both ends of a stream run on one CPU; spread, on two; none, where the scheduler puts them.
made-note-streams = Streams in all: those of all clients, twice as many where they run both ways.
