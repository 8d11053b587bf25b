// A moment of a constellation in ns-3: point-to-point links, and a host route for each pair at each node on its way.
//
// The file of the network (network.py beside this writes it) has a line for each thing, its name first. Nodes are
// numbers from 0, times picoseconds:
//
//   link <from> <to> <bit/s> <packets> <delay>    a port with the packets that may wait in it, and its link;
//                                                 0 bit/s: packets take no time and wait for nothing
//   route <node> <destination> <next>             at a node, over the link to the next node
//   datagrams <from> <to> <start> <interval> <octets of the IP packet>
//   connection <from> <to> <start>
//
// Prints, for each line of traffic, "datagrams <received> <least> <sum> <greatest delay>" or "connection <octets>",
// then "hops <packets that came to ports>", "beside <those that came to links without a rate>" and "peak <octets>".

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kIpAndUdpOctets = 28;
// The first port of the destinations: each line of traffic has one of its own.
constexpr uint16_t kFirstPort = 5000;
// A rate at which any packet takes less than half a picosecond.
constexpr uint64_t kAtOnceBps = 1000000000000000000;

using Ends = std::pair<uint32_t, uint32_t>;

// A device that sends, and the number of its interface at its node.
struct Port
{
    Ptr<PointToPointNetDevice> device;
    uint32_t interface;
    bool isWire;
};

// A channel whose packets arrive after everything that was due at that instant, departures above all. As a rule
// ns-3 has at one instant what was scheduled first, which is mostly the arrival.
class LateChannel : public PointToPointChannel
{
  public:
    bool TransmitStart(Ptr<const Packet> packet, Ptr<PointToPointNetDevice> from, Time sending) override
    {
        const auto first = GetPointToPointDevice(0);
        const auto to = first == from ? GetPointToPointDevice(1) : first;
        Simulator::ScheduleWithContext(to->GetNode()->GetId(),
                                       sending + GetDelay(),
                                       &LateChannel::Arrive,
                                       to,
                                       packet->Copy());
        return true;
    }

  private:
    static void Arrive(Ptr<PointToPointNetDevice> to, Ptr<Packet> packet)
    {
        Simulator::ScheduleNow(&PointToPointNetDevice::Receive, to, packet);
    }
};

// Nodes, devices and routes.
class Network
{
  public:
    // The node of a number, with IP.
    Ptr<Node> GetNode(uint32_t number)
    {
        while (m_nodes.GetN() <= number)
        {
            m_nodes.Create(1);
            m_stack.Install(m_nodes.Get(m_nodes.GetN() - 1));
        }
        return m_nodes.Get(number);
    }

    // Adds a port with its link; both directions between two nodes share a channel.
    void AddLink(Ends ends, uint64_t bps, uint32_t packets, int64_t delayPs)
    {
        const bool isWire = bps == 0;
        auto [from, to] = ends;
        const auto back = m_ports.find({to, from});
        if (m_ports.contains(ends) || from == to)
        {
            throw std::runtime_error("a link twice, or from a node to itself");
        }
        Ptr<PointToPointNetDevice> device;
        if (back != m_ports.end())
        {
            device = m_far[{to, from}];
            auto channel = DynamicCast<PointToPointChannel>(device->GetChannel());
            TimeValue delay;
            channel->GetAttribute("Delay", delay);
            if (delay.Get() != PicoSeconds(delayPs))
            {
                throw std::runtime_error("the two directions of a link have different delays");
            }
        }
        else
        {
            auto channel = CreateObject<PointToPointChannel>();
            if (m_departuresFirst)
            {
                channel = CreateObject<LateChannel>();
            }
            channel->SetAttribute("Delay", TimeValue(PicoSeconds(delayPs)));
            device = AddDevice(from);
            m_far[ends] = AddDevice(to);
            device->Attach(channel);
            m_far[ends]->Attach(channel);
        }
        device->SetDataRate(DataRate(isWire ? kAtOnceBps : bps));
        device->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, packets));
        const auto interface = GetNode(from)->GetObject<Ipv4>()->GetInterfaceForDevice(device);
        m_ports[ends] = {device, static_cast<uint32_t>(interface), isWire};
    }

    // The address of a node is that of its first interface that sends.
    Ipv4Address GetAddress(uint32_t number) const
    {
        const auto first = m_ports.lower_bound({number, 0});
        if (first == m_ports.end() || first->first.first != number)
        {
            throw std::runtime_error("a destination without a port");
        }
        return first->second.device->GetNode()
            ->GetObject<Ipv4>()
            ->GetAddress(first->second.interface, 0)
            .GetLocal();
    }

    void AddRoute(uint32_t node, uint32_t destination, uint32_t next)
    {
        m_statics.GetStaticRouting(GetNode(node)->GetObject<Ipv4>())
            ->AddHostRouteTo(GetAddress(destination), m_ports.at({node, next}).interface);
    }

    // Packets that came to all ports, or to all links without a rate.
    uint64_t CountArrivals(bool ofWires) const
    {
        uint64_t sum = 0;
        for (const auto& [ends, port] : m_ports)
        {
            if (port.isWire == ofWires)
            {
                const auto queue = port.device->GetQueue();
                sum += queue->GetTotalReceivedPackets() +
                       queue->GetTotalDroppedPacketsBeforeEnqueue();
            }
        }
        return sum;
    }

    explicit Network(bool departuresFirst)
        : m_departuresFirst(departuresFirst)
    {
        m_stack.SetRoutingHelper(m_statics);
        m_stack.SetIpv6StackInstall(false);
    }

  private:
    // A device with an address of its own, without a queue above it (as a helper would add).
    Ptr<PointToPointNetDevice> AddDevice(uint32_t number)
    {
        auto device = CreateObject<PointToPointNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        device->SetQueue(CreateObject<DropTailQueue<Packet>>());
        GetNode(number)->AddDevice(device);
        auto ip = GetNode(number)->GetObject<Ipv4>();
        const auto interface = ip->AddInterface(device);
        ip->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(m_next++), Ipv4Mask::GetOnes()));
        ip->SetUp(interface);
        // A route to the address itself leads nowhere: only host routes are searched.
        auto routing = m_statics.GetStaticRouting(ip);
        while (routing->GetNRoutes() > 0)
        {
            routing->RemoveRoute(0);
        }
        return device;
    }

    bool m_departuresFirst;
    NodeContainer m_nodes;
    InternetStackHelper m_stack;
    Ipv4StaticRoutingHelper m_statics;
    std::map<Ends, Port> m_ports;
    // The device at the far end of a link that came first between its nodes.
    std::map<Ends, Ptr<PointToPointNetDevice>> m_far;
    uint32_t m_next = 0x0A000001;
};

// What came of a source's datagrams.
struct Received
{
    uint64_t count = 0;
    int64_t leastPs = INT64_MAX;
    int64_t sumPs = 0;
    int64_t greatestPs = 0;
};

void
OnDatagram(Received* received, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        SeqTsHeader header;
        packet->RemoveHeader(header);
        const int64_t delayPs = (Simulator::Now() - header.GetTs()).GetPicoSeconds();
        ++received->count;
        received->leastPs = std::min(received->leastPs, delayPs);
        received->sumPs += delayPs;
        received->greatestPs = std::max(received->greatestPs, delayPs);
    }
}

// The greatest memory of the process so far. What getrusage says begins with that of the process that started it.
uint64_t
GetPeakOctets()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
    {
        uint64_t kib = 0;
        if (word == "VmHWM:" && status >> kib)
        {
            return kib * 1024;
        }
    }
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    // Delays are those of the other simulator, to its picosecond.
    Time::SetResolution(Time::PS);
    std::string file;
    int64_t durationPs = 0;
    bool departuresFirst = false;
    uint32_t mss = 1460;
    uint32_t window = 1460000;
    uint32_t ssthresh = 65535;
    uint32_t initialCwnd = 10;
    double tick = 0.1;
    double minRto = 0.2;
    double initialRto = 3;

    CommandLine arguments;
    arguments.AddValue("network", "file of the network", file);
    arguments.AddValue("duration", "simulated time, ps", durationPs);
    arguments.AddValue("departuresFirst", "at one instant, departures before arrivals", departuresFirst);
    arguments.AddValue("mss", "octets of a segment's payload", mss);
    arguments.AddValue("window", "receiver window, octets", window);
    arguments.AddValue("ssthresh", "the first slow start threshold, octets", ssthresh);
    arguments.AddValue("initialCwnd", "segments", initialCwnd);
    arguments.AddValue("tick", "granularity of the retransmission timer, s", tick);
    arguments.AddValue("minRto", "smallest RTO, s", minRto);
    arguments.AddValue("initialRto", "RTO before the first measurement, s", initialRto);
    arguments.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialCwnd));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(ssthresh));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(initialRto)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(minRto)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(Seconds(tick)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(Seconds(initialRto / 3)));

    Network network(departuresFirst);
    std::vector<Received> datagrams;
    std::vector<Ptr<PacketSink>> sinks;
    std::ifstream lines(file);
    if (!lines)
    {
        throw std::runtime_error("no file of a network: " + file);
    }
    // Sockets keep the addresses of these.
    datagrams.reserve(1 << 16);
    uint16_t port = kFirstPort;
    for (std::string text; std::getline(lines, text);)
    {
        std::istringstream line(text);
        std::string what;
        uint32_t from = 0;
        uint32_t to = 0;
        line >> what >> from >> to;
        if (what == "link")
        {
            uint64_t bps = 0;
            uint32_t packets = 0;
            int64_t delayPs = 0;
            line >> bps >> packets >> delayPs;
            network.AddLink({from, to}, bps, packets, delayPs);
        }
        else if (what == "route")
        {
            uint32_t next = 0;
            line >> next;
            network.AddRoute(from, to, next);
        }
        else if (what == "datagrams")
        {
            int64_t startPs = 0;
            int64_t intervalPs = 0;
            uint32_t octets = 0;
            line >> startPs >> intervalPs >> octets;
            UdpClientHelper source(network.GetAddress(to), port);
            source.SetAttribute("MaxPackets", UintegerValue(0));
            source.SetAttribute("Interval", TimeValue(PicoSeconds(intervalPs)));
            source.SetAttribute("PacketSize", UintegerValue(octets - kIpAndUdpOctets));
            source.Install(network.GetNode(from)).Start(PicoSeconds(startPs));
            auto socket =
                Socket::CreateSocket(network.GetNode(to), UdpSocketFactory::GetTypeId());
            socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port++));
            if (datagrams.size() == datagrams.capacity())
            {
                throw std::runtime_error("too many sources");
            }
            datagrams.emplace_back();
            socket->SetRecvCallback(MakeBoundCallback(&OnDatagram, &datagrams.back()));
        }
        else if (what == "connection")
        {
            int64_t startPs = 0;
            line >> startPs;
            BulkSendHelper source("ns3::TcpSocketFactory",
                                  InetSocketAddress(network.GetAddress(to), port));
            source.SetAttribute("SendSize", UintegerValue(mss));
            source.Install(network.GetNode(from)).Start(PicoSeconds(startPs));
            PacketSinkHelper sink("ns3::TcpSocketFactory",
                                  InetSocketAddress(Ipv4Address::GetAny(), port++));
            sinks.push_back(DynamicCast<PacketSink>(sink.Install(network.GetNode(to)).Get(0)));
        }
        else
        {
            line.setstate(std::ios::failbit);
        }
        if (!line)
        {
            throw std::runtime_error("a line that is none: " + text);
        }
    }

    Simulator::Stop(PicoSeconds(durationPs));
    Simulator::Run();
    for (const Received& of : datagrams)
    {
        std::cout << "datagrams " << of.count << " " << (of.count > 0 ? of.leastPs : 0) << " "
                  << of.sumPs << " " << of.greatestPs << "\n";
    }
    for (const auto& sink : sinks)
    {
        std::cout << "connection " << sink->GetTotalRx() << "\n";
    }
    std::cout << "hops " << network.CountArrivals(false) << "\nbeside "
              << network.CountArrivals(true) << "\npeak " << GetPeakOctets() << "\n";
    Simulator::Destroy();
    return 0;
}
