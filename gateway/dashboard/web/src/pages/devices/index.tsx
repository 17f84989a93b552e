/** Devices: heard, proposed, in use; the mapping editor; what was changed; the first minute. */

import "./devices.css";
import { address } from "../../state/address";
import { Board } from "./Board";
import { Connect } from "./Connect";
import { Editor } from "./Editor";
import { History } from "./History";

export default function Devices() {
  const { path, parameters } = address.value;
  const { mapping, proposal, topic, filter, guess } = parameters;
  switch (path[0]) {
    case "edit":
      return <Editor key={JSON.stringify([path[1], mapping, proposal, topic, filter, guess])} />;
    case "history":
      return <History />;
    case "connect":
      return <Connect />;
    default:
      return <Board />;
  }
}
