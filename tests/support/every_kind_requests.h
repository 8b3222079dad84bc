// Requests to random_records.h that ask for every kind of synopsis, with and without windows,
// weights and parts, and answer at every kind of place.
#pragma once

namespace weir::tests {

inline constexpr const char* kEveryKindRequests = R"(
{"requestID":"b1","streamID":"S0","synopsisID":1,"dataSetKey":"Stocks","param":["CountMin","price","Construct",0.01,0.99,7],"noOfP":1}
{"requestID":"b2","streamID":"S0","synopsisID":2,"dataSetKey":"Stocks","param":["HyperLogLog","price","Construct",0.02],"noOfP":1}
{"requestID":"b3","streamID":"S0","synopsisID":4,"dataSetKey":"Stocks","param":["DFT","price","Construct",500,200,8],"noOfP":1}
{"requestID":"b4","streamID":"S1","synopsisID":1,"dataSetKey":"Stocks","param":["CountMin","volume","Construct",0.01,0.99,7],"noOfP":4}
{"requestID":"b5","streamID":"","synopsisID":1,"dataSetKey":"Stocks","param":["CountMin","price","Construct",0.01,0.99,7],"noOfP":3}
{"requestID":"b6","streamID":"","synopsisID":2,"dataSetKey":"Other","param":["HyperLogLog","volume","Construct",0.05],"noOfP":2}
{"requestID":"b7","streamID":"S9","synopsisID":2,"dataSetKey":"Stocks","param":["HyperLogLog","nothing","Construct",0.05],"noOfP":1}
{"op":"build","synopsis":"DFT","dataset":"Stocks","stream":"S1","field":"price","params":{"window":100,"slide":50,"coefficients":4},"at":{"record":3000}}
{"op":"build","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S3","field":"volume","params":{"rsd":0.1},"parallelism":5,"at":{"time":"2019-01-02T00:20:00Z"}}
{"op":"query","synopsis":"DFT","dataset":"Stocks","stream":"S0","field":"price","continuous":true}
{"op":"query","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S0","field":"price","continuous":true}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"S1","field":"volume","query":6,"continuous":true}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"","field":"price","query":105.5,"continuous":true}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"","field":"price","query":"n/a","at":{"record":4096}}
{"op":"query","synopsis":"HyperLogLog","dataset":"Other","stream":"","field":"volume","at":{"record":4096}}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"S0","field":"price","query":9007199254740993,"at":{"time":"2019-01-02T00:25:00Z"}}
{"op":"delete","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S0","field":"price","at":{"record":7001}}
{"op":"query","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S0","field":"price","at":{"record":7001}}
{"op":"query","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S3","field":"volume"}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"S1","field":"volume","query":6}
{"op":"query","synopsis":"CountMin","dataset":"Nowhere","stream":"S1","field":"volume","query":6}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"S1","field":"volume","query":6,"at":{"record":99999999}}
{"op":"build","synopsis":"BloomFilter","dataset":"Stocks","stream":"","field":"price","params":{"expected":500,"fpp":0.02}}
{"op":"build","synopsis":"LossyCounting","dataset":"Stocks","stream":"S0","field":"price","params":{"epsilon":0.02},"parallelism":3}
{"op":"build","synopsis":"LossyCounting","dataset":"Stocks","stream":"","field":"price","params":{"epsilon":0.02},"parallelism":4,"weight":"volume"}
{"op":"build","synopsis":"StickySampling","dataset":"Stocks","stream":"S0","field":"volume","params":{"support":0.2,"epsilon":0.05,"delta":0.1},"parallelism":2}
{"op":"build","synopsis":"StickySampling","dataset":"Stocks","stream":"","field":"price","params":{"support":0.2,"epsilon":0.05,"delta":0.1}}
{"op":"build","synopsis":"AMS","dataset":"Stocks","stream":"S0","field":"price","params":{"depth":5,"buckets":32},"window":{"size":"5m","slide":"1m","grace":"30s"},"parallelism":4}
{"op":"build","synopsis":"AMS","dataset":"Stocks","stream":"S1","field":"price","params":{"depth":5,"buckets":32},"window":{"size":"5m","slide":"1m","grace":"30s"},"weight":"volume"}
{"op":"build","synopsis":"AMS","dataset":"Stocks","stream":"S2","field":"price","params":{"depth":5,"buckets":32},"window":{"size":"5m","slide":"1m","grace":"30s"}}
{"op":"build","synopsis":"HyperLogLog","dataset":"Stocks","stream":"","field":"price","params":{"rsd":0.1},"window":{"size":"2m","grace":"10s"}}
{"op":"build","synopsis":"GKQuantiles","dataset":"Stocks","stream":"S2","field":"price","params":{"epsilon":0.02},"parallelism":3,"window":{"size":"10m","slide":"1m"}}
{"op":"build","synopsis":"GKQuantiles","dataset":"Stocks","stream":"","field":"price","params":{"epsilon":0.02},"parallelism":3}
{"op":"build","synopsis":"WindowSketchQuantiles","dataset":"Stocks","stream":"","field":"price","params":{"epsilon":0.05,"window":700}}
{"op":"build","synopsis":"WindowSketchQuantiles","dataset":"Stocks","stream":"S0","field":"price","params":{"epsilon":0.05,"window":70}}
{"op":"build","synopsis":"DFT","dataset":"Stocks","stream":"","field":"price","params":{"interval":"10s","basic":"1m","window":"4m","coefficients":5}}
{"op":"build","synopsis":"LSH","dataset":"Stocks","stream":"","field":"price","params":{"window":20,"bits":64,"workers":2,"interval":"10s"}}
{"op":"query","synopsis":"AMS","dataset":"Stocks","stream":"S0","field":"price","query":["F2"],"continuous":true}
{"op":"query","synopsis":"AMS","dataset":"Stocks","stream":"S0","field":"price","query":["innerProduct","S2"],"continuous":true}
{"op":"query","synopsis":"HyperLogLog","dataset":"Stocks","stream":"","field":"price","continuous":true}
{"op":"query","synopsis":"GKQuantiles","dataset":"Stocks","stream":"S2","field":"price","query":0.5,"continuous":true}
{"op":"query","synopsis":"GKQuantiles","dataset":"Stocks","stream":"","field":"price","query":0.9,"continuous":true}
{"op":"query","synopsis":"LossyCounting","dataset":"Stocks","stream":"","field":"price","query":[0.05,"FrequentItems"],"continuous":true}
{"op":"query","synopsis":"LossyCounting","dataset":"Stocks","stream":"S0","field":"price","query":[0.05,"FrequentItems"]}
{"op":"query","synopsis":"StickySampling","dataset":"Stocks","stream":"","field":"price","query":[0.2,"FrequentItems"],"continuous":true}
{"op":"query","synopsis":"StickySampling","dataset":"Stocks","stream":"S0","field":"volume","query":[6,"CountEstimation"],"continuous":true}
{"op":"query","synopsis":"WindowSketchQuantiles","dataset":"Stocks","stream":"","field":"price","query":0.5,"continuous":true}
{"op":"query","synopsis":"WindowSketchQuantiles","dataset":"Stocks","stream":"S0","field":"price","query":0.5,"continuous":true}
{"op":"query","synopsis":"BloomFilter","dataset":"Stocks","stream":"","field":"price","query":105.5,"continuous":true}
{"op":"query","synopsis":"DFT","dataset":"Stocks","stream":"","field":"price","query":["correlated",0.3],"continuous":true}
{"op":"query","synopsis":"DFT","dataset":"Stocks","stream":"S3","field":"price","query":["with","S4"],"continuous":true}
{"op":"query","synopsis":"LSH","dataset":"Stocks","stream":"","field":"price","query":["similar",0.3],"at":{"record":9000}}
{"op":"query","synopsis":"LSH","dataset":"Stocks","stream":"S2","field":"price","at":{"record":9000}}
{"requestID":"gk.syn","op":"save","synopsis":"GKQuantiles","dataset":"Stocks","stream":"","field":"price","path":"gk.syn","at":{"record":8000}}
{"requestID":"ams.syn","op":"save","synopsis":"AMS","dataset":"Stocks","stream":"S0","field":"price","path":"ams.syn","at":{"record":8000}}
{"op":"load","synopsis":"GKQuantiles","dataset":"Stocks","stream":"","field":"price","path":"gk.syn","at":{"record":10000}}
{"op":"load","synopsis":"AMS","dataset":"Stocks","stream":"S5","field":"price","path":"ams.syn","at":{"record":10000}}
{"op":"query","synopsis":"AMS","dataset":"Stocks","stream":"S5","field":"price","query":["F2"]}
)";

}  // namespace weir::tests
