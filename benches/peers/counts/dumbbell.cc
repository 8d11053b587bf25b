// N connections over a dumbbell of packets, simulated in the manner of htsim (C. Raiciu, M. Handley: queues, pipes and
// TCP end points that hand packets along routes, one list of events in picoseconds): the least that a simulator of packets
// does. Written for this race; htsim itself is not packaged.
//
//     dumbbell SOURCES MSS WINDOW BUFFER LINK_BPS ACCESS_BPS ACCESS_S BOTTLENECK_S STAGGER_S TICK_S MIN_RTO_S
//         FIRST_RTO_S DURATION_S
//
// Prints, for each connection, "flow <i> delivered <octets>", and one line "total sent <segments> resent <segments>
// timeouts <number>".

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace
{

using Time = uint64_t;
constexpr double kPsPerS = 1e12;
constexpr uint32_t kHeaders = 40;

struct EventSource
{
    virtual ~EventSource() = default;
    virtual void OnEvent() = 0;
};

std::multimap<Time, EventSource*> g_events;
Time g_now = 0;

void
Schedule(Time at, EventSource* source)
{
    g_events.emplace(at, source);
}

struct Packet;

struct PacketSink
{
    virtual ~PacketSink() = default;
    virtual void Receive(Packet* packet) = 0;
};

using Route = std::vector<PacketSink*>;

// A packet on its way. Octets are those of the flow: of data the first one, of an acknowledgement the one expected.
struct Packet
{
    const Route* route;
    uint32_t hop;
    uint32_t size;
    uint64_t octet;
};

std::vector<Packet*> g_free;

Packet*
NewPacket(const Route* route, uint32_t size, uint64_t octet)
{
    if (g_free.empty())
    {
        g_free.push_back(new Packet);
    }
    Packet* packet = g_free.back();
    g_free.pop_back();
    *packet = {route, 0, size, octet};
    return packet;
}

void
SendOn(Packet* packet)
{
    (*packet->route)[packet->hop++]->Receive(packet);
}

// Tail drop; the packet that is being sent counts.
struct Queue : EventSource, PacketSink
{
    Queue(double bps, size_t most)
        : psPerOctet(8 * kPsPerS / bps),
          most(most)
    {
    }

    void Receive(Packet* packet) override
    {
        if (packets.size() >= most)
        {
            g_free.push_back(packet);
            return;
        }
        packets.push_back(packet);
        if (packets.size() == 1)
        {
            Begin();
        }
    }

    void OnEvent() override
    {
        Packet* packet = packets.front();
        packets.pop_front();
        SendOn(packet);
        if (!packets.empty())
        {
            Begin();
        }
    }

    void Begin()
    {
        Schedule(g_now + Time(packets.front()->size * psPerOctet), this);
    }

    double psPerOctet;
    size_t most;
    std::deque<Packet*> packets;
};

struct Pipe : EventSource, PacketSink
{
    explicit Pipe(double seconds)
        : delay(Time(seconds * kPsPerS))
    {
    }

    void Receive(Packet* packet) override
    {
        if (packets.empty())
        {
            Schedule(g_now + delay, this);
        }
        packets.emplace_back(g_now + delay, packet);
    }

    void OnEvent() override
    {
        Packet* packet = packets.front().second;
        packets.pop_front();
        SendOn(packet);
        if (!packets.empty())
        {
            Schedule(packets.front().first, this);
        }
    }

    Time delay;
    std::deque<std::pair<Time, Packet*>> packets;
};

// Acknowledges every segment.
struct Receiver : PacketSink
{
    void Receive(Packet* packet) override
    {
        if (packet->octet == expected)
        {
            expected += mss;
            while (!early.empty() && *early.begin() == expected)
            {
                early.erase(early.begin());
                expected += mss;
            }
        }
        else if (packet->octet > expected)
        {
            early.insert(packet->octet);
        }
        g_free.push_back(packet);
        SendOn(NewPacket(&back, kHeaders, expected));
    }

    Route back;
    uint32_t mss = 0;
    uint64_t expected = 0;
    std::set<uint64_t> early;
};

// NewReno of RFC 6582 with a coarse timer of RFC 6298; always has data.
struct Sender : EventSource, PacketSink
{
    void OnEvent() override
    {
        SendWhatFits();
    }

    void Receive(Packet* packet) override
    {
        const uint64_t ack = packet->octet;
        g_free.push_back(packet);
        if (ack > una)
        {
            OnNewAck(ack);
        }
        else if (next > una)
        {
            OnDuplicate();
        }
        SendWhatFits();
    }

    void OnNewAck(uint64_t ack)
    {
        if (isTiming && ack > timedOctet)
        {
            Measure(double(g_now - timedAt) / kPsPerS);
            isTiming = false;
        }
        const uint64_t acked = ack - una;
        una = ack;
        next = std::max(next, una);
        backoff = 1;
        duplicates = 0;
        if (isRecovering && ack < recover)
        {
            Transmit(una);
            cwnd = std::max(cwnd - double(acked) + mss, double(mss));
            if (isFirstPartial)
            {
                Restart();
            }
            isFirstPartial = false;
            return;
        }
        if (isRecovering)
        {
            isRecovering = false;
            cwnd = ssthresh;
        }
        else if (cwnd < ssthresh)
        {
            cwnd += mss;
        }
        else
        {
            cwnd += double(mss) * mss / cwnd;
        }
        Restart();
    }

    void OnDuplicate()
    {
        ++duplicates;
        if (isRecovering)
        {
            cwnd += mss;
        }
        else if (duplicates == 3 && una > recover)
        {
            ssthresh = std::max((next - una) / 2.0, 2.0 * mss);
            recover = next;
            isRecovering = true;
            isFirstPartial = true;
            isTiming = false;
            cwnd = ssthresh + 3 * mss;
            Transmit(una);
        }
    }

    void OnTick()
    {
        if (next == una || g_now < expires)
        {
            return;
        }
        ++timeouts;
        ssthresh = std::max((next - una) / 2.0, 2.0 * mss);
        recover = next;
        cwnd = mss;
        next = una;
        duplicates = 0;
        isRecovering = false;
        isTiming = false;
        backoff = std::min(backoff * 2, 64u);
        Restart();
        SendWhatFits();
    }

    void Measure(double rtt)
    {
        if (srtt == 0)
        {
            srtt = rtt;
            rttvar = rtt / 2;
        }
        else
        {
            rttvar += (std::abs(rtt - srtt) - rttvar) / 4;
            srtt += (rtt - srtt) / 8;
        }
        rto = std::max(srtt + 4 * rttvar, minRto);
    }

    void Restart()
    {
        expires = g_now + Time(rto * backoff * kPsPerS);
    }

    void SendWhatFits()
    {
        const double window = std::min(cwnd, double(rwnd));
        while (next + mss <= una + uint64_t(window))
        {
            if (next == una)
            {
                Restart();
            }
            Transmit(next);
            next += mss;
        }
    }

    void Transmit(uint64_t octet)
    {
        ++sent;
        if (octet < highest)
        {
            ++resent;
        }
        else
        {
            highest = octet + mss;
            if (!isTiming)
            {
                isTiming = true;
                timedOctet = octet;
                timedAt = g_now;
            }
        }
        SendOn(NewPacket(&out, mss + kHeaders, octet));
    }

    Route out;
    uint32_t mss = 0;
    uint64_t rwnd = 0;
    double minRto = 0;
    double cwnd = 0;
    double ssthresh = 0;
    uint64_t una = 0;
    uint64_t next = 0;
    uint64_t highest = 0;
    uint64_t recover = 0;
    uint32_t duplicates = 0;
    bool isRecovering = false;
    bool isFirstPartial = false;
    bool isTiming = false;
    uint64_t timedOctet = 0;
    Time timedAt = 0;
    double srtt = 0;
    double rttvar = 0;
    double rto = 0;
    uint32_t backoff = 1;
    Time expires = 0;
    uint64_t sent = 0;
    uint64_t resent = 0;
    uint64_t timeouts = 0;
};

// Looks at the timers of all senders at every tick.
struct Ticker : EventSource
{
    void OnEvent() override
    {
        for (auto& sender : *senders)
        {
            sender->OnTick();
        }
        Schedule(g_now + tick, this);
    }

    Time tick = 0;
    std::vector<std::unique_ptr<Sender>>* senders = nullptr;
};

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 14)
    {
        std::cerr << "thirteen arguments are needed\n";
        return 2;
    }
    std::vector<double> given;
    for (int i = 1; i < argc; ++i)
    {
        given.push_back(std::atof(argv[i]));
    }
    const auto sources = size_t(given[0]);
    const auto mss = uint32_t(given[1]);
    const double linkBps = given[4];
    const double accessBps = given[5];
    const double accessDelay = given[6];
    const double bottleneckDelay = given[7];
    constexpr size_t kUnlimited = size_t(1) << 40;

    Queue there(linkBps, size_t(given[3]));
    Queue back(linkBps, kUnlimited);
    Pipe thereDelay(bottleneckDelay);
    Pipe backDelay(bottleneckDelay);
    std::vector<std::unique_ptr<PacketSink>> parts;
    const auto access = [&](Route& route) {
        parts.push_back(std::make_unique<Queue>(accessBps, kUnlimited));
        route.push_back(parts.back().get());
        parts.push_back(std::make_unique<Pipe>(accessDelay));
        route.push_back(parts.back().get());
    };
    std::vector<std::unique_ptr<Sender>> senders;
    std::vector<std::unique_ptr<Receiver>> receivers;
    for (size_t i = 0; i < sources; ++i)
    {
        auto sender = std::make_unique<Sender>();
        auto receiver = std::make_unique<Receiver>();
        access(sender->out);
        sender->out.insert(sender->out.end(), {&there, &thereDelay});
        access(sender->out);
        sender->out.push_back(receiver.get());
        access(receiver->back);
        receiver->back.insert(receiver->back.end(), {&back, &backDelay});
        access(receiver->back);
        receiver->back.push_back(sender.get());
        receiver->mss = sender->mss = mss;
        sender->rwnd = uint64_t(given[2]) / mss * mss;
        sender->cwnd = mss;
        sender->ssthresh = double(sender->rwnd);
        sender->minRto = given[10];
        sender->rto = given[11];
        Schedule(Time(double(i) * given[8] * kPsPerS), sender.get());
        senders.push_back(std::move(sender));
        receivers.push_back(std::move(receiver));
    }
    Ticker ticker;
    ticker.tick = Time(given[9] * kPsPerS);
    ticker.senders = &senders;
    Schedule(ticker.tick, &ticker);

    const auto end = Time(given[12] * kPsPerS);
    while (!g_events.empty() && g_events.begin()->first <= end)
    {
        const auto first = g_events.begin();
        g_now = first->first;
        EventSource* source = first->second;
        g_events.erase(first);
        source->OnEvent();
    }

    uint64_t sent = 0;
    uint64_t resent = 0;
    uint64_t timeouts = 0;
    for (size_t i = 0; i < sources; ++i)
    {
        std::cout << "flow " << i << " delivered " << receivers[i]->expected << "\n";
        sent += senders[i]->sent;
        resent += senders[i]->resent;
        timeouts += senders[i]->timeouts;
    }
    std::cout << "total sent " << sent << " resent " << resent << " timeouts " << timeouts << "\n";
    return 0;
}
