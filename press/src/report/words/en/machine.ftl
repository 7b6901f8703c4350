# What loads of the system under test alone gave.

machine-title = The machine
machine-further = Further figures
testbed-alone = The load ran on this machine alone, with each thread pinned to a separate CPU.
testbed-alone-simulated = This run is simulated: neither machine nor clock is real, and every figure comes from a model.
testbed-alone-settings = What the plan set on the machine
method-window-alone = Each load is warm before its window opens. Within the window it is measured in short samples, and the figure of a trial is their median. A disturbed sample (its thread was not running, or the hypervisor took its CPU) is dropped and counted. A trial that lost too many samples is invalid.

derived-caption = Derived facts
derived-fact = Fact
derived-under = Under
derived-value = Value
derived-beside = Beside it
derived-clocks = clocks of a load
derived-cache = size of a cache
derived-cache-level = size of the L{ $level } cache
derived-prefetch = stride at which prefetching ends
derived-saturation = threads that saturate memory
derived-bytes-clock = bytes a clock
derived-bytes-cipher = bytes of memory for a byte of cipher
derived-scaling = N threads against one
derived-per-copy = what each thread keeps
derived-between = between { $at } and { $until }
derived-at = { $at }
derived-not-until = not up to { $until }
derived-threads = { $at } { $at ->
    [one] thread
   *[other] threads
}
derived-rising = still rising at { $until } threads
derived-clock = a clock of { $clock }
derived-latencies = { $here } there, { $most } where nothing helps
derived-latency = { $most } where nothing helps
derived-of-threads = { $threads } threads
derived-told = { $by } tells { $size }
derived-fits = { $told }: fits
derived-disagrees = { $told }: disagrees
derived-untold = the machine reports none of about that size
derived-baseline = All are of the first level of every factor.
definition-clocks = Clocks of a load: its latency at random, over the time of one addition that waits for the one before, measured beside it.
definition-cache = Size of a cache: between these two sizes the time of an access leaves a plateau of neighbouring sizes that lie within a factor of { $within }; beside it what the kernel tells in sysfs, which has it from the processor’s own words (CPUID).
definition-prefetch = Prefetching ends at the first stride at which a walk by address takes half of what random loads of the same memory take, or half of its own longest where those were not measured. It is told of data beyond the first cache, and where the shortest stride still takes less than that half: otherwise there was nothing to end.
definition-saturation = Threads that saturate memory: the fewest whose bandwidth comes within { $share } of the highest of any number.
definition-bytes-clock = Bytes a clock: what one thread reads from memory in a clock of its core.
definition-bytes-cipher = Bytes of memory for a byte of cipher: what as many threads read from memory, over what they encrypt in the largest blocks. A cipher that works in memory reads a byte and writes one, and where the line that it writes is fetched first it moves three: below two to three, memory holds such a cipher down.
definition-scaling = N threads against one: the ratio within blocks of what the most threads do together to what one does alone.
definition-per-copy = What each thread keeps: that ratio over the number of threads.

ladder-title = { $metric } by { $axis }, load “{ $load }”
ladder-subtitle = { $metric }, a line for each { $by }
ladder-subtitle-one = { $metric }
ladder-footnote = n = { $blocks } { repeats } in random order; bands are { $level } intervals; run { $run }.
ladder-footnote-level = All under { $level }.
ladder-shows = { $figure } shows { $metric } by { $axis } for load “{ $load }”.
ladder-axis-size = size of the data
ladder-axis-injected = injected bandwidth
copies-title = { $metric } by { $by }, load “{ $load }”, { $condition }
copies-title-plain = { $metric } by { $by }, load “{ $load }”
copies-shows = { $figure } shows every { $by }, the quickest first.
matrix-title = One-way latency between CPUs, { $told }: ratio to the median of the pairs
matrix-title-plain = One-way latency between CPUs: ratio to the median of the pairs
matrix-method = method “{ $method }”
matrix-subtitle = a row the CPU that sends, a column the one that answers; the median of the { $pairs } pairs measured (of { $all } between these CPUs) is { $middle }
matrix-axis = CPU
matrix-cpu = CPU { $cpu }
matrix-footnote = The median of an even number of pairs is the slower of the two in the middle; a pair was measured in one direction.
matrix-shows = { $figure } shows every pair of { $cpus } CPUs.
matrix-shows-some = { $figure } shows { $pairs } of the { $all } pairs of { $cpus } CPUs; the others were not measured.
cipher-roof-title = Ciphers beside the bandwidth of memory, load “{ $load }”, { $threads } { $threads ->
    [one] thread
   *[other] threads
}
cipher-roof-subtitle = message bytes a second by block size; a level line is what memory gives to as many threads
cipher-roof-caches = messages lie in the caches
cipher-roof-copied = memory, copied
cipher-roof-copied-is = Memory, copied: half of the highest bandwidth of copying memory, for a cipher that worked in memory would read each byte and write one; a digest writes none.
cipher-roof-read = memory, read only
cipher-roof-read-is = Memory, read only: the highest bandwidth of reading memory, which is all that a digest of messages in memory would do; what a cipher writes comes on top.
cipher-roof-passed = A bandwidth of memory below a point is not drawn.
cipher-roof-calls = { $series }: calls a second
cipher-roof-footnote = The messages and their results lie in the caches, so that the lines of memory, which were measured in this run, are marks of height: they hold no point down. The slope is the highest number of calls a second of one algorithm of this load at any block size; another algorithm has its own.
cipher-roof-shows = { $figure } shows ciphers by block size beside what memory gives.
