# What a kind of reader should take.

advice-peak = For the highest throughput
advice-latency = For the lowest latency
advice-other-work = For a server with other work
advice-take-other = { $other }, { $metric } { $effect } against { $base }
advice-take-base = { $base }: { $other } has { $metric } { $effect } against it
advice-either = either: { $other } against { $base } makes no relevant difference, { $metric } { $effect }
advice-open = undecided with { $blocks } { repeats }, { $other } against { $base } { $metric } { $effect }
advice-withheld = no advice: { $reason }
advice-under = { $condition }: { $sentence }
advice-rest = in the other { $count } cases
advice-both = { $first } and { $second }
advice-first = { $first } and { $more } more
advice-line = { $reader }: { $sentence }
advice-whole = { $said }.
advice-effects = { $closest } in the closest, { $widest } in the widest
advice-short-withheld = none, { $reason }
advice-short-either = either
advice-short-open = undecided with { $blocks ->
    [one] { $blocks } { repeat-one }
   *[other] { $blocks } { repeats }
}
advice-short-under = { $choice } ({ $condition })
card-advice = { $reader }: { $choice }
card-more = + { $count } more in the report
card-curve = { $sign } { $effect } { $names }, over { $curve }
