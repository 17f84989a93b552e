import { describe, expect, it } from "vitest";
import { address, FAMILIES, hostOf, isLoopback, rights, setup } from "./connect";
import type { Broker } from "./told";

const open: Broker = {
  mode: "embedded",
  host: "",
  address: "192.0.2.7",
  local: false,
  port: 1883,
  tls: false,
  websocket_port: null,
  users: false,
  security: false,
};

describe("the broker's address", () => {
  it("is the one that a device can reach", () => {
    expect(hostOf(open, "gateway.lan")).toBe("gateway.lan");
    expect(hostOf(open, "localhost")).toBe("192.0.2.7");
    expect(hostOf({ ...open, address: "" }, "127.0.0.1")).toBe("127.0.0.1");
    expect(hostOf({ ...open, host: "broker.example" }, "gateway.lan")).toBe("broker.example");
    expect(["localhost", "127.0.0.1", "::1", "10.0.0.1"].map(isLoopback)).toEqual([true, true, true, false]);
  });

  it("says whether it is TLS, and has brackets where it must", () => {
    expect(address(open, "a")).toBe("mqtt://a:1883");
    expect(address({ ...open, tls: true, port: 8883 }, "fe80::1")).toBe("mqtts://[fe80::1]:8883");
  });
});

describe("texts to copy", () => {
  it("have host and port, and a login alone where there is one", () => {
    for (const family of FAMILIES) {
      const plain = setup(family, open, "gw.lan", null);
      expect(plain).toContain("gw.lan");
      expect(plain).toContain("1883");
      expect(plain).not.toMatch(/user|pass|-u /i);
      const safe = setup(family, { ...open, tls: true }, "gw.lan", { name: "lamp", secret: "s3cret" });
      expect(safe).toContain("lamp");
      expect(safe).toContain("s3cret");
      expect(safe).toMatch(/mqtts|SetOption103|ssl_ca|certificate_authority|cafile/);
    }
  });

  it("are not broken by a name with quotes", () => {
    const login = { name: "it's", secret: 'a"b' };
    expect(setup("zigbee2mqtt", open, "h", login)).toContain('password: "a\\"b"');
    expect(setup("mosquitto", open, "h", login)).toContain("-u 'it'\\''s' -P 'a\"b'");
    expect(setup("shelly", open, "h", login)).toMatch(/^curl -d '\{/);
  });

  it("need rights for their own topics", () => {
    expect(rights("shelly", "plug").publish).toEqual(["plug/#"]);
    expect(rights("tasmota", "x").receive).toContain("cmnd/#");
  });
});
