// Shared by all of the console: who is signed in, what is not saved, and how to ask for
// credentials.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SignIn } from "../sign-in/sign-in.ts";
import type { VisitedLists } from "./objects/visited-lists.ts";
import type { UnsavedChanges } from "./unsaved.ts";

export interface ConsoleServices {
  readonly signIn: SignIn;
  readonly unsaved: UnsavedChanges;
  readonly visited: VisitedLists;
  /** The project's name. */
  readonly title: string;
  /** Shows the form by which a person signs in, over what is shown now. */
  readonly onSignIn: () => void;
  /** To be called when something is refused that the project may have offered before. */
  readonly onRefused: () => void;
  /** What is shown waits behind the form until the person for whom it was loaded is back. */
  readonly isKept: boolean;
  /** Counts changes of who is signed in. */
  readonly signIns: number;
}

export const ConsoleContext = createContext<ConsoleServices | undefined>(undefined);

export function useConsole(): ConsoleServices {
  const services = useContext(ConsoleContext);
  if (services === undefined) throw new Error("The app provides the console's services");
  return services;
}
