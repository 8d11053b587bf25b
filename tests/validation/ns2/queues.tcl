# Constant sources over a port of packets under RED or deficit round robin: which packets it drops, and when.
# ns queues.tcl FILE drr
# ns queues.tcl FILE red-forced
# ns queues.tcl FILE red SEED
# ns queues.tcl FILE red-gentle SEED
set kind [lindex $argv 1]
set ns [new Simulator]
foreach n {a b c r d} { set $n [$ns node] }
foreach n {a b c} {
    $ns simplex-link [set $n] $r 100Mb 1ms DropTail
    $ns simplex-link $r [set $n] 100Mb 1ms DropTail
}
$ns simplex-link $d $r 10Mb 10ms DropTail
if {$kind eq "drr"} {
    $ns simplex-link $r $d 10Mb 10ms DRR
    set queue [[$ns link $r $d] queue]
    $queue set buckets_ 1024
    $queue set quantum_ 2500
    # Twenty packets beside the one that is being sent, which has left the queue.
    $queue set blimit_ 20500
    set sources {a 1000 0.0023017 0.0 b 1001 0.0019013 0.000517 c 1003 0.0020011 0.000211}
} else {
    $ns simplex-link $r $d 10Mb 10ms RED
    set queue [[$ns link $r $d] queue]
    # The paper's rule: packets, distances without a wait, thresholds less the packet that is being sent.
    foreach {name value} {
        bytes_ false queue_in_bytes_ false wait_ false setbit_ false gentle_ false mean_pktsize_ 1000 limit_ 1000
        q_weight_ 0.02
    } {
        $queue set $name $value
    }
    if {$kind eq "red-forced"} {
        # No draw is against a packet below the upper threshold.
        foreach {name value} {thresh_ 19 maxthresh_ 39 linterm_ 1e12} { $queue set $name $value }
        set sources {a 1000 0.0009017 0.0 b 1000 0.0060013 0.000517 c 1000 0.0313 0.000211}
    } else {
        foreach {name value} {thresh_ 4 maxthresh_ 14 linterm_ 10} { $queue set $name $value }
        set every 0.0060013
        if {$kind eq "red-gentle"} {
            $queue set gentle_ true
            set every 0.0011227
        }
        set sources [list a 1000 0.0009017 0.0 b 1000 $every 0.000517 c 1000 0.9003 0.000211]
        ns-random [lindex $argv 2]
    }
}
foreach {n size interval start} $sources {
    set udp [new Agent/UDP]
    $udp set packetSize_ 2000
    $ns attach-agent [set $n] $udp
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
set file [open [lindex $argv 0] w]
if {$kind eq "red" || $kind eq "red-gentle"} {
    # Packets that wait, on the average of 60 s, and how many were dropped.
    set monitor [$ns monitor-queue $r $d ""]
    set waiting [$monitor get-pkts-integrator]
    $ns at 60.0 {
        $waiting newpoint 60.0 [$waiting set lasty_]
        puts $file "[format %.4f [expr {[$waiting set sum_] / 60}]] [$monitor set pdrops_]"
        close $file
        exit 0
    }
} else {
    $ns trace-queue $r $d $file
    $ns at 20.0 "$ns flush-trace; close $file; exit 0"
}
$ns run
