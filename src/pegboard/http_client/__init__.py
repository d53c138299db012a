"""HTTP requests to upstreams: address policy, DNS, pooled connections, bounded response bodies and circuit breakers."""
