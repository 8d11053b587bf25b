# Runs in ns-2 the network that a parameter file describes: ns network.tcl <parameter file>.
# translate.py writes that file and documents its variables; simulator.py reads what is printed here.

source [lindex $argv 0]

# What holds for every agent: senders count whole segments, and packets have the size that they, or
# their AAL5 frames, have on the line, headers included.
Agent/TCP set useHeaders_ false
Agent/TCP set windowInitOption_ 1
Agent/TCP set delay_growth_ false
# Numbers of a run, not of the machine: one generator, one seed.
ns-random $seed

# Every packet carries the headers of every protocol that ns-2 knows, 4.6 kB in all, unless told
# otherwise. It is the best known way to make ns-2 quicker, and few scripts use it.
if {$only_needed_headers} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}
set ns [new Simulator]
$ns use-scheduler $scheduler

for {set i 0} {$i < $nodes} {incr i} {
    set node($i) [$ns node]
}
foreach link $links {
    lassign $link from to bps delay_s limit
    $ns simplex-link $node($from) $node($to) $bps $delay_s DropTail
    set queue [[$ns link $node($from) $node($to)] queue]
    # DropTail compares in packets unless told otherwise; with a mean size of 1 limit_ is octets.
    if {!$is_packets} {
        $queue set queue_in_bytes_ true
        $queue set mean_pktsize_ 1
    }
    $queue set limit_ $limit
}

set trace [expr {$trace_file eq "" ? "" : [open $trace_file w]}]

proc add_flow {i flow} {
    global ns node trace sender sink
    array set p $flow
    set sender($i) [new $p(sender)]
    foreach {name value} $p(sender_variables) {
        $sender($i) set $name $value
    }
    set sink($i) [new $p(sink)]
    foreach {name value} $p(sink_variables) {
        $sink($i) set $name $value
    }
    $ns attach-agent $node($p(source)) $sender($i)
    $ns attach-agent $node($p(destination)) $sink($i)
    $ns connect $sender($i) $sink($i)
    # A run begins with a reset of every agent, which would overwrite a ssthresh set here.
    $ns at 0 [list $sender($i) set ssthresh_ $p(ssthresh)]
    foreach command $p(sender_commands) {
        $ns at 0 "$sender($i) $command"
    }
    $ns at $p(start_s) [list $sender($i) send -1]
    if {[llength $p(losses)] > 0} {
        set losses [new ErrorModel/List]
        $losses unit pkt
        $losses droplist $p(losses)
        $losses drop-target [new Agent/Null]
        $ns lossmodel $losses $node($p(source)) $node($p(first_hop))
    }
    if {$trace ne ""} {
        $ns trace-queue $node($p(source)) $node($p(first_hop)) $trace
        foreach name {cwnd_ ssthresh_} {
            $sender($i) trace $name
        }
        $sender($i) attach $trace
    }
}

set i 0
foreach flow $flows {
    add_flow $i $flow
    incr i
}

proc finish {} {
    global trace sender sink
    if {$trace ne ""} {
        close $trace
    }
    foreach i [lsort -integer [array names sender]] {
        puts "flow $i sent [$sender($i) set ndatapack_] resent [$sender($i) set nrexmitpack_]\
            timeouts [$sender($i) set nrexmit_] acks [$sender($i) set nackpack_]\
            octets [$sink($i) set bytes_]"
    }
    exit 0
}

$ns at $stop_s finish
$ns run
