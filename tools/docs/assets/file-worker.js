// Browsers refuse workers to a page that is opened as a file. Then the search, a worker, runs in a frame of the page.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      const script = inside.document.createElement("script");
      this.ready = new Promise((done) => script.addEventListener("load", done));
      this.receive = (data) => inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      script.src = url;
      inside.document.body.append(script);
    }

    async postMessage(data) {
      await this.ready;
      this.receive(data);
    }
  };
}
