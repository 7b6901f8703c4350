# Names given by people stand in nominative slots and are never inflected.

# What n counts and what its pairs are of; $repeat is set by whoever asks.
repeats = { $repeat ->
    [boot] boots
    [mixed] blocks or boots
   *[block] blocks
}
repeat-one = { $repeat ->
    [boot] boot
    [mixed] block or boot
   *[block] block
}
repeat-place = { $repeat ->
    [boot] round
    [mixed] block or round
   *[block] block
}
repeat-visit = { $repeat ->
    [boot] boot
    [mixed] attempt or boot
   *[block] attempt
}
repeat-visits = { $repeat ->
    [boot] boots
    [mixed] attempts or boots
   *[block] attempts
}
repeat-trial = { $repeat ->
    [boot] boot
    [mixed] trial or boot
   *[block] trial
}
repeat-trials = { $repeat ->
    [boot] boots
    [mixed] trials or boots
   *[block] trials
}
repeat-places = { $repeat ->
    [boot] rounds
    [mixed] blocks or rounds
   *[block] blocks
}

effect-ratio = { $ratio } ({ $level } interval { $range })
effect-change = { $change } ({ $level } interval { $low } to { $high })
effect-plain = { $centre }
effect-exact = { $centre } (one { repeat-one }, so no interval)
effect-short-ratio = { $ratio } ({ $range })
effect-short-change = { $change } ({ $low } to { $high })

# Claims, one message a topic and kind. $exceptions says whether $but has stretches of curves where it
# is not so.
once-over-points = { $exceptions ->
    [some] { "" }
   *[none] { over-points }
}
over-all = { $exceptions ->
    [some] { " " }overall
   *[none] { "" }
}
but-so = { $exceptions ->
    [some] , but { $but }. Over all points
   *[none] { "" }
}
but-equal = { $exceptions ->
    [some] , but { $other } is { $but }. Over all points
   *[none] { "" }
}
verdict-better = { $other } is better than { $base }{ over-all }{ but-so }: { $metric } { $effect }.
verdict-worse = { $other } is worse than { $base }{ over-all }{ but-so }: { $metric } { $effect }.
verdict-inside = No relevant difference between { $other } and { $base }{ over-all }{ but-equal }: { $metric } { $effect }, a certain difference inside the margin of { $margin }.
verdict-equivalent = No relevant difference between { $other } and { $base }{ over-all }{ but-equal } (two one-sided tests, margin { $margin }): { $metric } { $effect }. Collapses in fewer than { $unseen } of trials could go undetected.
verdict-looks-better = { $other } looks better than { $base }{ over-all }{ but-so }: { $metric } { $effect }; { $blocks } { repeats } are too few for a verdict.
verdict-looks-worse = { $other } looks worse than { $base }{ over-all }{ but-so }: { $metric } { $effect }; { $blocks } { repeats } are too few for a verdict.
verdict-undecided = { $exceptions ->
    [some] Undecided overall with { $blocks } { repeats } between { $other } and { $base }, but { $other } is { $but }. Over all points: { $metric } { $effect }.
   *[none] Undecided between { $other } and { $base }: { $metric } { $effect }, margin { $margin }.{ $further ->
        [some] { " " }A decision takes { $more }.
       *[none] { "" }
    }
}
verdict-two-states = No single verdict between { $other } and { $base }: a level has two states and was fast or slow for a whole trial. { $metric } { $effect } only tells how often each state occurred.
verdict-not-comparable = { $other } and { $base } are not comparable: they used different engines or CPU features. Both figures stand without a verdict.
verdict-emulated = No verdict on { $other } and { $base }: their machines are emulated by software. Both figures stand as those of the emulator.
verdict-no-headroom = No verdict between { $other } and { $base }: the load generator alone reaches less than { $least } times a figure. The ratio of { $metric }, { $effect }, is that of generator and system together.
verdict-withheld = { $other } against { $base }: { $metric } { $effect }.
further-blocks-exactly = { $low ->
    [one] { $low } further { repeat-one }
   *[other] { $low } further { repeats }
} ({ $level } interval)
further-blocks = { $low } to { $high } further { repeats } ({ $level } interval)
further-blocks-open = { $low } or more further { repeats }, perhaps beyond { $most } in all ({ $level } interval)

unlike-key = Not comparable{ $at }: { $key } is { $first } under { $base } and { $second } under { $other }.

headline-unlike = { $count } of { $of } comparisons { $count ->
    [one] has
   *[other] have
} no verdict: their sides used different engines or CPU features and are not comparable.
headline-no-headroom = { $count } of { $of } comparisons { $count ->
    [one] has
   *[other] have
} no verdict: the load generator has no headroom there.
headline-not-among = { $count ->
    [one] { $count } difference is
   *[other] { $count } differences are
} certain taken alone but not among all { $of } comparisons together; the headline calls that undecided.
headline-primary = Primary comparison: { $sentence }
headline-primary-under = Primary comparison, with { $condition }: { $sentence }
besides-not-among = { $count ->
    [one] { $count } difference besides the primary comparison is
   *[other] { $count } differences besides the primary comparison are
} certain taken alone but not among those { $of } together, and not told as found.
scope-of = { $scope ->
    [both] both comparisons
   *[all] all { $count } comparisons
}
several-better = { $other } is better than { $base }{ over-all } in { scope-of }{ but-so }: { $metric }{ once-over-points } { $least } to { $most }.
several-worse = { $other } is worse than { $base }{ over-all } in { scope-of }{ but-so }: { $metric }{ once-over-points } { $least } to { $most }.
several-equivalent = No relevant difference between { $other } and { $base }{ over-all } in { scope-of }{ but-equal }: { $metric }{ once-over-points } { $least } to { $most }.
several-most-better = { $other } is better than { $base } in { $won } of { $count } comparisons: { $metric }{ over-points } { $effects }. The others: { $rest }.
several-most-worse = { $other } is worse than { $base } in { $won } of { $count } comparisons: { $metric }{ over-points } { $effects }. The others: { $rest }.
several-split = { $other } against { $base }: { $metric } { $sides }.
several-mixed = It depends. Of { $count } comparisons of { $other } with { $base }, { $tally }.
several-neither = Neither of { $other } and { $base } is ahead: of { $count } comparisons, { $tally }.
several-tally = Of { $count } comparisons, { $tally }.
several-undecided = { several-tally }
but-ahead = ahead { $places }
but-behind = behind { $places }
but-at = at { $from }
but-from = from { $from } to { $to }
but-under = { $places } with { $condition }
headline-under = With { $condition }, { $sentence }
condition-then = With { $condition }: { $sentence }
split-side = { $effect } with { $condition }{ $outcome ->
    [equivalent] { " " }(inside the margin)
    [undecided] { " " }(undecided)
   *[other] { "" }
}
tally-better = { $count } came out better
tally-worse = { $count } worse
tally-equivalent = { $count } inside the margin
tally-undecided = { $count } undecided
tally-named = { $tally } ({ $names })
headline-none = Nothing was compared: no comparison has enough counted trials.

region-ahead = { $leader } is ahead { $places }, by { $near }{ $stretch ->
    [several] { " " }at the least and { $far } at the most
   *[point] { "" }
}.
region-ahead-against = { $leader } is ahead { $places }; { $other } against { $base }: { $near }{ $stretch ->
    [several] { " " }where they are closest, { $far } where they are widest apart
   *[point] { "" }
}.
region-even = They are equal within the margin { $places }.
region-open = Undecided with { $blocks } { repeats } { $places }.

# The space after the sign is one that never ends a line.
sign-better = ▲
sign-worse = ▼
sign-equivalent = =
sign-inside = =
sign-undecided = ?
sign-looks-better = ?
sign-looks-worse = ?
sign-withheld = –
sign-two-states = ≷
sign-not-comparable = ≁
sign-emulated = ≁
sign-no-headroom = ≁
word-better = ▲ better
word-worse = ▼ worse
word-inside = = inside the margin
word-equivalent = = equal
word-two-states = ≷ two states
word-not-comparable = ≁ not comparable
word-emulated = ≁ emulated
word-no-headroom = ≁ no headroom
word-undecided = ? undecided
word-looks-better = ? looks better; too few { repeats }
word-looks-worse = ? looks worse; too few { repeats }
word-withheld = – none

# A gain that hangs on other factors.
depends-said = { $other } against { $base }: { $metric } { $gains }; no gain { $nothing }.
depends-gain = { $effect } with { $condition }
depends-idle = with { $condition }
depends-idle-limit = with { $condition }, where the limit is { $limit }
depends-open = With { $condition } it is undecided.
depends-and = { $first }, and { $rest }
