// The frame of the console: bar, list of resources and root keys, and the selected one. Asks for
// credentials where the server does, and before something unsaved is lost.

import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Gate, type WayBack } from "../sign-in/gate.tsx";
import type { SignIn } from "../sign-in/sign-in.ts";
import { ActionButton } from "./action-button.tsx";
import { Bar, DataNavigation } from "./bar.tsx";
import { ConfirmDialog, DiscardDialog } from "./confirm.tsx";
import { ConsoleContext, useConsole } from "./console-context.ts";
import type { Description } from "./description.ts";
import { singularOf } from "./objects/names.ts";
import { ObjectList } from "./objects/object-list.tsx";
import { ObjectPage } from "./objects/object-page.tsx";
import { VisitedLists } from "./objects/visited-lists.ts";
import { ProblemMessage } from "./problem-message.tsx";
import { RootKeyPage } from "./root-key/root-key-page.tsx";
import type { Route } from "./route.ts";
import { Start } from "./start.tsx";
import type { UnsavedChanges } from "./unsaved.ts";
import { type FollowedDescription, type ProjectChange, useDescription } from "./use-description.ts";
import { useNavigation } from "./use-route.ts";
import { type Owner, type Session, useSession } from "./use-session.ts";
import { ViewHeading } from "./view-heading.tsx";

export function App({ signIn, unsaved }: { readonly signIn: SignIn; readonly unsaved: UnsavedChanges }) {
  const navigation = useNavigation(unsaved);
  const session = useSession(signIn, unsaved);
  const state = useDescription({ signIn, session, unsaved, route: navigation.route });
  // Nobody else may see the filters.
  const visited = useMemo(() => new VisitedLists(), [session.contentKey]);
  const [isSigningOut, setSigningOut] = useState(false);
  const isLocked = state.problem?.status === 401;
  const isGateShown = isLocked || session.isGateOpen;
  const keptFor = unsaved.isEmpty ? undefined : session.owner;
  const title = state.description?.title ?? signIn.project;
  useEffect(() => {
    if (state.loaded === undefined) document.title = `${signIn.project} console`;
  }, [state.loaded]);
  useLayoutEffect(() => {
    if (!isGateShown) document.querySelector<HTMLElement>("main h1")?.focus();
  }, [isGateShown]);
  const signOut = (): void => {
    setSigningOut(false);
    unsaved.clear();
    void signIn.signOut();
  };
  return (
    <ConsoleContext.Provider
      value={{
        signIn,
        unsaved,
        visited,
        title,
        onSignIn: session.openGate,
        onRefused: state.check,
        isKept: session.isKept,
        signIns: session.changes,
      }}
    >
      <Bar
        credential={isLocked ? undefined : signIn.credential}
        title={title}
        isReadOnly={state.description?.isReadOnly === true}
        hidesSignIn={isGateShown}
        onSignIn={session.openGate}
        onSignOut={() => (unsaved.isEmpty ? signOut() : setSigningOut(true))}
      />
      {isGateShown && (
        <Gate
          signIn={signIn}
          title={`Sign in – ${signIn.project} console`}
          why={whyOf(keptFor, isLocked, signIn)}
          holdsText={!unsaved.isEmpty}
          {...(keptFor?.isUser === true && { userName: keptFor.name })}
          {...wayBackOf(session, signIn, isLocked)}
        />
      )}
      {/* Hidden and not gone, so that what was entered there is kept. */}
      <div hidden={isGateShown}>
        <Content key={session.contentKey} state={state} route={navigation.route} />
      </div>
      {navigation.isConfirming && <DiscardDialog onDiscard={navigation.leave} onCancel={navigation.stay} />}
      {session.isAsking && (
        <ConfirmDialog
          title={`Discard what ${session.owner?.name} entered?`}
          text={`It has not been saved. To keep it, sign in as ${session.owner?.name} instead.`}
          action="Discard"
          onConfirm={session.discard}
          onCancel={session.keep}
        />
      )}
      {isSigningOut && <DiscardDialog onDiscard={signOut} onCancel={() => setSigningOut(false)} />}
    </ConsoleContext.Provider>
  );
}

function wayBackOf(session: Session, signIn: SignIn, isLocked: boolean): { readonly wayBack?: WayBack } {
  if (!session.isKept) return isLocked ? {} : { wayBack: { label: "Back", onClick: session.closeGate } };
  const { credential } = signIn;
  if (credential === undefined) return {};
  return { wayBack: { label: `Go on as ${credential.caller.name}`, onClick: session.askToDiscard } };
}

function whyOf(keptFor: Owner | undefined, isLocked: boolean, { credential }: SignIn): string {
  if (keptFor !== undefined) {
    return `You have unsaved text as ${keptFor.name}: sign in as ${keptFor.name} to keep it.`;
  }
  if (!isLocked) return "Requests are sent with what you enter here.";
  return credential === undefined
    ? "To use the console of this project, you have to sign in."
    : `You were signed in as ${credential.caller.name}, which has ended. Sign in again.`;
}

const changeWords: Readonly<Record<ProjectChange, string>> = {
  taken: "The project has changed, and what you see here follows it.",
  waiting: "The project has changed. This view stays as it is, with what you entered, until you leave it.",
  gone: "This project is no longer at this address.",
};

function Content({ state, route }: { readonly state: FollowedDescription; readonly route: Route }) {
  const { description, loaded, problem } = state;
  if (description === undefined)
    return problem === undefined ? <p class="notice">Loading…</p> : <Refused state={state} />;
  return (
    <>
      {problem !== undefined && <Refused state={state} />}
      <p role="status" class="project-change">
        {state.change !== undefined && changeWords[state.change]}
      </p>
      <div class="columns">
        <DataNavigation description={description} route={route} />
        <main>
          <Chosen description={description} reference={loaded?.reference} route={route} />
        </main>
      </div>
    </>
  );
}

function Refused({ state: { problem } }: { readonly state: FollowedDescription }) {
  return (
    <div class="notice">
      {problem?.status === 404 ? (
        <p class="fault" role="alert">
          {changeWords.gone}
        </p>
      ) : (
        <ProblemMessage problem={problem} />
      )}
    </div>
  );
}

interface ChosenProps {
  readonly description: Description;
  readonly reference: string | undefined;
  readonly route: Route;
}

function Chosen({ description, reference, route }: ChosenProps) {
  if (route.kind === "start") return <Start description={description} reference={reference} />;
  if (route.kind === "rootKey") {
    const rootKey = description.rootKeys.find(({ name }) => name === route.rootKey);
    if (rootKey === undefined) return <Missing what={`root key ${route.rootKey}`} />;
    return <RootKeyPage key={rootKey.name} rootKey={rootKey} />;
  }
  const resource = description.resources.find(({ name }) => name === route.resource);
  if (resource === undefined) return <Missing what={`resource ${route.resource}`} />;
  if (route.kind === "list") return <ObjectList key={resource.name} resource={resource} query={route.query} />;
  if (route.kind === "new" && !resource.may.create) {
    return <MayNotCreate resource={resource.name} isReadOnly={description.isReadOnly} />;
  }
  const id = route.kind === "object" ? route.id : undefined;
  return <ObjectPage key={`${resource.name}/${id}`} resource={resource} id={id} />;
}

function MayNotCreate({ resource, isReadOnly }: { readonly resource: string; readonly isReadOnly: boolean }) {
  const { signIn, onSignIn } = useConsole();
  const { caller } = signIn.credential ?? {};
  return (
    <>
      <ViewHeading name={`New ${singularOf(resource)}`} titled={`New – ${resource}`} />
      <p class="fault" role="alert">
        {isReadOnly && "The project is read-only: nothing can be created."}
        {!isReadOnly && caller !== undefined && `${caller.name} may not create objects of ${resource}.`}
        {!isReadOnly && caller === undefined && (
          <>
            You have to sign in to create objects of {resource}. <ActionButton onClick={onSignIn}>Sign in</ActionButton>
          </>
        )}
      </p>
    </>
  );
}

function Missing({ what }: { readonly what: string }) {
  return (
    <>
      <ViewHeading key={what} name="Not found" />
      <p class="fault" role="alert">
        The project has no {what}, or nobody may use it.
      </p>
    </>
  );
}
