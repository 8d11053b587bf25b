# Two constant sources over a port of packets with tail drop: which packets it drops, and when.
# ns two_sources.tcl FILE
set ns [new Simulator]
foreach n {a b r d} { set $n [$ns node] }
foreach {from to rate delay} {a r 10Mb 1ms b r 10Mb 1ms r d 1Mb 10ms r a 10Mb 1ms r b 10Mb 1ms d r 1Mb 10ms} {
    $ns simplex-link [set $from] [set $to] $rate $delay DropTail
}
# With the packet that is being sent so many, as DropTail counts.
$ns queue-limit $r $d 5
foreach {n size interval start} [list $a 1000 0.0091077 0.0 $b 300 0.0053033 0.000517] {
    set udp [new Agent/UDP]
    $udp set packetSize_ 2000
    $ns attach-agent $n $udp
    set sink [new Agent/Null]
    $ns attach-agent $d $sink
    $ns connect $udp $sink
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $size
    $source set interval_ $interval
    $source set random_ 0
    $source attach-agent $udp
    $ns at $start "$source start"
}
set trace [open [lindex $argv 0] w]
$ns trace-queue $r $d $trace
$ns at 6.0 "$ns flush-trace; close $trace; exit 0"
$ns run
