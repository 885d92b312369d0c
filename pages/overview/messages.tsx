// What the terminal says of manifests and files, as long as it is true: problems first, then warnings and notes.

import type { Level, OverviewState, ShownMessage } from "./state.ts";
import { Subject } from "./subject.tsx";

interface Group {
  /** The object's subject, or the file. */
  readonly about: string;
  readonly isFile: boolean;
  readonly outcome?: string;
  readonly messages: readonly ShownMessage[];
}

const order: readonly Level[] = ["problem", "warning", "note"];

export function Messages({ state }: { readonly state: OverviewState }) {
  const groups: readonly Group[] = [
    ...state.files.map((each) => ({ ...each, about: each.file, isFile: true })),
    ...state.manifests.map((each) => ({ ...each, about: each.subject, isFile: false })),
  ].filter(({ messages, outcome }) => messages.length > 0 || outcome !== undefined);
  if (groups.length === 0) return null;
  const sorted = groups.toSorted((one, other) => rankOf(one) - rankOf(other));
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <ul class="messages">
        {sorted.map((group) => (
          <li key={group.about} class={order[rankOf(group)]}>
            <h3>{group.isFile ? <code>{group.about}</code> : <Subject subject={group.about} />}</h3>
            {group.outcome !== undefined && <p class="outcome">{sentence(group.outcome)}</p>}
            <ul>
              {group.messages.map((message) => (
                <Message key={`${message.position} ${message.pointer} ${message.text}`} message={message} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Message({ message }: { readonly message: ShownMessage }) {
  const { level, text, position, pointer } = message;
  return (
    <li>
      <span class={`level ${level}`}>{level}</span> {text}
      <div class="position">
        <code>{position}</code> {pointer !== "" && <code>{pointer}</code>}
      </div>
    </li>
  );
}

/** An object without a message but with an outcome comes last. */
function rankOf({ messages }: Group): number {
  return Math.min(order.length - 1, ...messages.map(({ level }) => order.indexOf(level)));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
