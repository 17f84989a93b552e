import { texts } from "../../texts";

export default function Page() {
  return <h1>{texts.why.title}</h1>;
}
