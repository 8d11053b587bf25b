// A queue discipline of ns-3 before a line, and nothing else: no host, device or protocol.
//
//     queue DISC QUANTUM BITS_PER_SECOND RUN < ARRIVALS
//
// DISC as ns-3 writes an object: "ns3::CoDelQueueDisc[Interval=20ms|Target=5ms]"; QUANTUM in octets is that of FQ-CoDel,
// which is no attribute there; RUN numbers the draws. A line of ARRIVALS is "ps octets flow", in order of time. Prints "ps flow octets" for each
// packet that is lost, when it is, and to the standard error how long those that were sent had waited on the average, ps.

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <sstream>

using namespace ns3;

namespace
{

class Item : public QueueDiscItem
{
  public:
    Item(uint32_t octets, uint32_t flow)
        : QueueDiscItem(Create<Packet>(octets), Address(), 0),
          m_flow(flow)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        return false;
    }

    uint32_t Hash(uint32_t) const override
    {
        return m_flow;
    }

    uint32_t m_flow;
};

Ptr<QueueDisc> g_disc;
double g_bps = 0;
bool g_is_busy = false;
double g_waits = 0;
uint64_t g_sent = 0;

void
OnDrop(Ptr<const QueueDiscItem> item)
{
    std::cout << Simulator::Now().GetPicoSeconds() << ' ' << StaticCast<const Item>(item)->m_flow << ' '
              << item->GetSize() << '\n';
}

void
Serve()
{
    Ptr<QueueDiscItem> item = g_disc->Dequeue();
    g_is_busy = item != nullptr;
    if (g_is_busy)
    {
        g_waits += (Simulator::Now() - item->GetTimeStamp()).GetPicoSeconds();
        ++g_sent;
        Simulator::Schedule(PicoSeconds(item->GetSize() * 8e12 / g_bps + 0.5), &Serve);
    }
}

void
Arrive(uint32_t octets, uint32_t flow)
{
    Ptr<QueueDiscItem> item = Create<Item>(octets, flow);
    item->SetTimeStamp(Simulator::Now());
    g_disc->Enqueue(item);
    if (!g_is_busy)
    {
        Serve();
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 5)
    {
        std::cerr << "queue DISC QUANTUM BITS_PER_SECOND RUN < ARRIVALS\n";
        return 2;
    }
    Time::SetResolution(Time::PS);
    RngSeedManager::SetRun(std::stoul(argv[4]));
    ObjectFactory factory;
    std::istringstream(argv[1]) >> factory;
    g_disc = factory.Create<QueueDisc>();
    if (auto fq = DynamicCast<FqCoDelQueueDisc>(g_disc))
    {
        fq->SetQuantum(std::stoul(argv[2]));
    }
    g_bps = std::stod(argv[3]);
    g_disc->TraceConnectWithoutContext("Drop", MakeCallback(&OnDrop));
    g_disc->Initialize();
    uint64_t time;
    uint32_t octets;
    uint32_t flow;
    uint64_t last = 0;
    while (std::cin >> time >> octets >> flow)
    {
        Simulator::Schedule(PicoSeconds(time), &Arrive, octets, flow);
        last = time;
    }
    // What is queued by then goes in the time; PIE's timer would go on for ever.
    Simulator::Stop(PicoSeconds(last) + Seconds(10));
    Simulator::Run();
    std::cerr << std::fixed << g_waits / g_sent << '\n';
    Simulator::Destroy();
    return 0;
}
