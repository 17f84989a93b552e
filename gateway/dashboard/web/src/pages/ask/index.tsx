import { texts } from "../../texts";

export default function Page() {
  return <h1>{texts.ask.title}</h1>;
}
