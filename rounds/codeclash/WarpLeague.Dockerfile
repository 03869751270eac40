# The image of both the arena and its players. Put a wheel of Warp League into the root of CodeClash before building it.
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY warpleague-*.whl /tmp/
RUN pip install --no-cache-dir /tmp/warpleague-*.whl && warpleague bot new /workspace
WORKDIR /workspace
RUN git init -q && git add -A && git -c user.name=start -c user.email=start@invalid commit -qm "Start" && \
    git clone -q --bare . /origin.git && git remote add origin /origin.git
