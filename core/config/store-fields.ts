// Fields of `configKeys.meta` by which operator and replicas know whether Redis lost the stored
// data: ADR 0039.

export const storeFields = {
  /** The store's id, which comes back with a backup and with nothing else. */
  id: "store_id",
  /** Name of the loss that was found and that nobody has accepted; absent = none. */
  loss: "data_loss",
  /** "1" = data are refused where the id is gone; absent = they are served, whatever happens. */
  refusesLoss: "refuses_loss",
} as const;

/** On the Secret of the fleet's key ring: the name of the accepted loss. */
export const acceptLossAnnotation = "jsonplane.io/accept-data-loss";
