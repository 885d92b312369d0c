// What the terminal says of manifests, files, seeds and stored data, as long as it is true:
// problems first, then warnings and notes.

import type { Level, OverviewState, ShownMessage, ShownNews } from "./state.ts";

interface Group {
  /** The object's subject, or a file or path. */
  readonly about: string;
  readonly isPath: boolean;
  readonly outcome?: string;
  readonly messages: readonly (ShownMessage | ShownNews)[];
}

const order: readonly Level[] = ["problem", "warning", "note"];

export function Messages({ state }: { readonly state: OverviewState }) {
  const all: readonly Group[] = [
    ...state.files.map((each) => ({ ...each, about: each.file, isPath: true })),
    ...state.manifests.map((each) => ({ ...each, about: each.subject, isPath: false })),
    ...state.news.map((each) => ({ about: each.about, isPath: true, messages: [each] })),
  ];
  const groups = all.filter(({ messages, outcome }) => messages.length > 0 || outcome !== undefined);
  if (groups.length === 0) return null;
  const sorted = groups.toSorted((one, other) => rankOf(one) - rankOf(other));
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <ul class="messages">
        {sorted.map((group) => (
          <li key={`${group.about} ${group.messages[0]?.text}`} class={order[rankOf(group)]}>
            <h3>{group.isPath ? <code>{group.about}</code> : <Subject subject={group.about} />}</h3>
            {group.outcome !== undefined && <p class="outcome">{sentence(group.outcome)}</p>}
            <ul>
              {group.messages.map((message) => (
                <Message key={JSON.stringify(message)} message={message} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Message({ message }: { readonly message: ShownMessage | ShownNews }) {
  const { level, text } = message;
  return (
    <li>
      <span class={`level ${level}`}>{level}</span> <span class="text">{text}</span>
      {"position" in message && (
        <div class="position">
          <code>{message.position}</code> {message.pointer !== "" && <code>{message.pointer}</code>}
        </div>
      )}
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

export function Subject({ subject }: { readonly subject: string }) {
  const [kind, ...name] = subject.split("/");
  return (
    <>
      <span class="kind">{kind}</span> {name.join("/")}
    </>
  );
}
