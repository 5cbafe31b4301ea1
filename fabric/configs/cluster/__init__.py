"""NVIDIA's Network Operator: what a plan asks of a Kubernetes cluster, as objects, and what objects may say."""
