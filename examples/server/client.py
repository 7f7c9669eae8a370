"""Subscribes, publishes and reads with a client: `python client.py http://127.0.0.1:8484`."""

from __future__ import annotations

import sys

import tamis


def main(url: str) -> None:
    with tamis.Client(url) as client:
        noise = client.subscribe("louderThan(3)", deliver={"cooldown": "10min"}, validity="1h")
        client.publish({"loudness": 7}, {"loudness": 2}, {"loudness": 9})
        for delivery in noise.deliveries():
            print(delivery.kind, delivery.event)
            noise.acknowledge(delivery)
            break
        noise.unsubscribe()


if __name__ == "__main__":
    main(*sys.argv[1:])
