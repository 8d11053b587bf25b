# One Vegas connection over a slow link with a long queue: its window while it settles.
# ns vegas.tcl ALPHA BETA
lassign $argv alpha beta
set ns [new Simulator]
foreach n {a r d} { set $n [$ns node] }
foreach {from to rate delay} {a r 20Mb 5ms r a 20Mb 5ms r d 2Mb 40ms d r 2Mb 40ms} {
    $ns simplex-link [set $from] [set $to] $rate $delay DropTail
}
$ns queue-limit $r $d 10000
Agent/TCP set useHeaders_ false
Agent/TCP set window_ 1000
Agent/TCP set packetSize_ 1000
Agent/TCP set tcpTick_ 0.00001
Agent/TCP set minrto_ 0.2
Agent/TCP set windowInit_ 2
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
set tcp [new Agent/TCP/Vegas]
$tcp set v_alpha_ $alpha
$tcp set v_beta_ $beta
$tcp set v_gamma_ 1
$ns attach-agent $a $tcp
set sink [new Agent/TCPSink]
$ns attach-agent $d $sink
$ns connect $tcp $sink
set source [new Application/FTP]
$source attach-agent $tcp
$ns at 0.0 "$source start"
proc show {} { puts "[$::ns now] [$::tcp set cwnd_] [$::tcp set ack_]" }
foreach t {20 30 40 50 60} { $ns at $t show }
$ns at 60.1 {exit 0}
$ns run
