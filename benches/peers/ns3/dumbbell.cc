// The N-source configuration in ns-3: N hosts - switch - switch - N hosts, one TCP connection each.
//
// Prints, for each connection, "flow <i> delivered <octets>", and one line "total sent <segments>
// resent <segments> timeouts <number>". Arguments: see the CommandLine below.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <vector>

using namespace ns3;

namespace
{

// PPP's header; ns-3's point-to-point links add it to every packet.
constexpr uint32_t kPppOctets = 2;
constexpr uint32_t kIpAndTcpOctets = 40;

uint64_t g_sent = 0;
uint64_t g_resent = 0;
uint64_t g_timeouts = 0;

// The octet after the highest that each connection has sent.
std::vector<SequenceNumber32> g_highest;

// A data segment leaves a sender: counts it, and whether its octets had been sent before.
void
OnTransmit(uint32_t flow, Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
    ++g_sent;
    if (end <= g_highest[flow])
    {
        ++g_resent;
    }
    else
    {
        g_highest[flow] = end;
    }
}

// A sender's retransmission timer has run out when its congestion state becomes CA_LOSS.
void
OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    g_timeouts += now == TcpSocketState::CA_LOSS;
}

// A sender's socket exists once its application has begun.
void
Watch(Ptr<BulkSendApplication> application, uint32_t flow)
{
    application->GetSocket()->TraceConnectWithoutContext("Tx", MakeBoundCallback(&OnTransmit, flow));
    application->GetSocket()->TraceConnectWithoutContext("CongState", MakeCallback(&OnState));
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t sources = 5;
    uint32_t mss = 512;
    uint32_t frameOctets = 636;
    uint32_t window = 600000;
    uint64_t queueOctets = 636000;
    double linkBps = 155.52e6;
    double accessDelay = 0.005;
    double bottleneckDelay = 0.005;
    double stagger = 0.007;
    double duration = 20;
    double tick = 0.1;
    double minRto = 0.2;
    double initialRto = 3;

    CommandLine arguments;
    arguments.AddValue("sources", "connections", sources);
    arguments.AddValue("mss", "octets of a segment's payload", mss);
    arguments.AddValue("frameOctets", "octets of a segment's frame on the wire", frameOctets);
    arguments.AddValue("window", "receiver window, octets", window);
    arguments.AddValue("queueOctets", "the shared queue, octets of frames on the wire", queueOctets);
    arguments.AddValue("linkBps", "rate of every link, bit/s", linkBps);
    arguments.AddValue("accessDelay", "of each access link, s", accessDelay);
    arguments.AddValue("bottleneckDelay", "of the shared link, s", bottleneckDelay);
    arguments.AddValue("stagger", "between two starts, s", stagger);
    arguments.AddValue("duration", "simulated time, s", duration);
    arguments.AddValue("tick", "granularity of the retransmission timer, s", tick);
    arguments.AddValue("minRto", "smallest RTO, s", minRto);
    arguments.AddValue("initialRto", "RTO before the first measurement, s", initialRto);
    arguments.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(initialRto)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(minRto)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(Seconds(tick)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(Seconds(initialRto / 3)));

    // A packet is shorter than its frame's cells: a slower link makes it last as long, and a queue
    // shortened alike holds as many.
    const double scale = double(mss + kIpAndTcpOctets + kPppOctets) / frameOctets;
    const auto rate = DataRate(uint64_t(linkBps * scale));
    const auto unlimited = QueueSize(QueueSizeUnit::PACKETS, 1u << 30);
    const auto limited = QueueSize(QueueSizeUnit::BYTES, uint32_t(queueOctets * scale));

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(rate));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(unlimited));

    NodeContainer senders;
    NodeContainer receivers;
    NodeContainer switches;
    senders.Create(sources);
    receivers.Create(sources);
    switches.Create(2);

    InternetStackHelper stack;
    stack.InstallAll();

    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    link.SetChannelAttribute("Delay", TimeValue(Seconds(bottleneckDelay)));
    NetDeviceContainer shared = link.Install(switches);
    DynamicCast<PointToPointNetDevice>(shared.Get(0))->GetQueue()->SetMaxSize(limited);
    shared.Get(0)->SetMtu(65535);
    shared.Get(1)->SetMtu(65535);
    addresses.Assign(shared);
    addresses.NewNetwork();

    std::vector<Ipv4Address> destinations;
    link.SetChannelAttribute("Delay", TimeValue(Seconds(accessDelay)));
    for (uint32_t i = 0; i < sources; ++i)
    {
        NetDeviceContainer in = link.Install(senders.Get(i), switches.Get(0));
        NetDeviceContainer out = link.Install(switches.Get(1), receivers.Get(i));
        for (const auto& pair : {in, out})
        {
            pair.Get(0)->SetMtu(65535);
            pair.Get(1)->SetMtu(65535);
        }
        addresses.Assign(in);
        addresses.NewNetwork();
        destinations.push_back(addresses.Assign(out).GetAddress(1));
        addresses.NewNetwork();
    }
    // Assigning addresses brings a queue of its own above each device; the device's is the buffer.
    TrafficControlHelper control;
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        for (uint32_t i = 1; i < (*node)->GetNDevices(); ++i)
        {
            if ((*node)->GetDevice(i)->GetInstanceTypeId() == PointToPointNetDevice::GetTypeId())
            {
                control.Uninstall((*node)->GetDevice(i));
            }
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    constexpr uint16_t kPort = 5000;
    std::vector<Ptr<PacketSink>> sinks;
    g_highest.resize(sources);
    for (uint32_t i = 0; i < sources; ++i)
    {
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(destinations[i], kPort));
        source.SetAttribute("SendSize", UintegerValue(mss));
        ApplicationContainer sending = source.Install(senders.Get(i));
        sending.Start(Seconds(i * stagger));
        Simulator::Schedule(Seconds(i * stagger) + NanoSeconds(1),
                            &Watch,
                            DynamicCast<BulkSendApplication>(sending.Get(0)),
                            i);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), kPort));
        ApplicationContainer receiving = sink.Install(receivers.Get(i));
        receiving.Start(Seconds(0));
        sinks.push_back(DynamicCast<PacketSink>(receiving.Get(0)));
    }

    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    for (uint32_t i = 0; i < sources; ++i)
    {
        std::cout << "flow " << i << " delivered " << sinks[i]->GetTotalRx() << "\n";
    }
    std::cout << "total sent " << g_sent << " resent " << g_resent << " timeouts " << g_timeouts
              << "\n";
    Simulator::Destroy();
    return 0;
}
