import { texts } from "../../texts";

export default function Page() {
  return <h1>{texts.devices.title}</h1>;
}
