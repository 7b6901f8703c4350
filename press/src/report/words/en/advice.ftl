# What a kind of reader should take.

reader-peak-throughput = For the highest throughput
reader-latency = For the lowest latency
reader-other-work = For a server with other work
advice-take-better = { $other }, { $metric } { $effect } against { $base }
advice-take-worse = { $base }: { $other } has { $metric } { $effect } against it
advice-take-equivalent = either: { $other } against { $base } makes no relevant difference, { $metric } { $effect }
advice-take-undecided = undecided with { $blocks } { repeats }, { $other } against { $base } { $metric } { $effect }
advice-take-withheld = no advice: { $reason }
advice-under = { $condition }: { $sentence }
advice-rest = in the other { $count } cases
advice-both = { $first } and { $second }
advice-first = { $first } and { $more } more
advice-line = { $reader }: { $sentence }
advice-whole = { $said }.
advice-effects = { $closest } to { $widest }
advice-short-withheld = none, { $reason }
advice-short-equivalent = either
advice-short-undecided = undecided with { $blocks ->
    [one] { $blocks } { repeat-one }
   *[other] { $blocks } { repeats }
}
advice-short-under = { $sentence } ({ $condition })
card-advice = { $reader }: { $choice }
card-more = + { $count } more in the report
card-curve = { $sign } { $effect } { $names }, over { $curve }
