# What `make up` starts, in one container: Prefect with its UI, the worker, the day and the bot. Data lies in /data.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 NIGHTKEEPER_HOME=/data NIGHTKEEPER_API__HOST=0.0.0.0 NIGHTKEEPER_PREFECT_HOST=0.0.0.0
WORKDIR /app

COPY requirements.lock ./
RUN pip install --no-cache-dir uv==0.13.9 && uv pip install --system --no-cache -r requirements.lock
COPY . .
RUN uv pip install --system --no-cache --no-deps -e . \
    && useradd --uid 1000 --create-home keeper && mkdir /data && chown keeper /data /app

USER keeper
VOLUME /data
EXPOSE 8765 4200
HEALTHCHECK --start-period=120s --interval=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=5)"]
CMD ["nightkeeper", "up"]
