/** Which stream the address has open. */

import { computed } from "@preact/signals";
import { address } from "../../state/address";
import { streamKey } from "../../state/streams";

/** Its key; "" for none. */
export const opened = computed(() => {
  const { page, path } = address.value;
  const [sensor = "", property = "", place = ""] = path;
  return page === "now" && property ? streamKey(sensor, property, place) : "";
});
