# What a kind of reader should take.

advice-peak = For the highest throughput
advice-other-work = For a server with other work
advice-take = Take { $choice }: { $other } against { $base }, { $metric } { $effect }.
advice-either = Either: { $other } against { $base } makes no difference that matters, { $metric } { $effect }.
advice-open = Not decided with { $blocks } blocks: { $other } against { $base }, { $metric } { $effect }.
advice-withheld = No advice: { $reason }.
advice-under = With { $condition } – { $sentence }
advice-effects = { $closest } in the closest, { $widest } in the widest
advice-short-withheld = none, { $reason }
advice-short-either = either
advice-short-open = not decided with { $blocks ->
    [one] { $blocks } block
   *[other] { $blocks } blocks
}
advice-short-under = { $choice } ({ $condition })
card-advice = { $reader }: { $choice }
card-more = + { $count } more in the report
card-curve = { $sign } { $effect } { $names }, all points
