/** The dialog that is open over an administrators' page. */
import { useState } from 'react';

/** Reads a query again; urql returns it beside the result. */
type Again = (options: { requestPolicy: 'network-only' }) => void;

/** The task whose dialog is open, and functions to open and close one. Closing reads the page again. */
export function useTask<Task>(again: Again) {
  const [task, setTask] = useState<Task>();
  const close = () => {
    setTask(undefined);
    again({ requestPolicy: 'network-only' });
  };
  return { task, setTask, close };
}
