// Owns where menus and lists that open over the window are put in the document: in the dialog that is open, or in the
// main part, so that a screen reader finds them in a landmark and a dialog does not shut them out.
export function overlayPlace(): Element | undefined {
  return document.querySelector('[role="dialog"]') ?? document.getElementById('work') ?? undefined
}
