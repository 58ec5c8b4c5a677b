// Shadow of the key light. The shadow map covers only the objects that cast shadows, so that it is
// as sharp as its resolution allows.

import { Box3, DirectionalLight, Matrix4, Mesh, type Object3D, Sphere, Vector3 } from "three";

/** Size, in metres, above which an object is scenery: fitting the shadow to it would leave no
 * resolution for the robot. */
const SCENERY = 15;
/** Maximum half width, in metres, of the area that the shadow covers. */
const WIDEST = 30;

const sphere = new Sphere();
const toLight = new Matrix4();
const centre = new Vector3();

function casters(root: Object3D, visit: (mesh: Mesh) => void): void {
  if (!root.visible) return;
  if (root instanceof Mesh && root.castShadow) visit(root);
  for (const child of root.children) casters(child, visit);
}

/** Returns the bounding box of everything that casts a shadow, in the axes of the light's camera.
 */
function bounds(scene: Object3D): Box3 {
  const box = new Box3();
  const reach = new Vector3();
  casters(scene, (mesh) => {
    const { geometry } = mesh;
    if (geometry.boundingSphere === null) geometry.computeBoundingSphere();
    if (geometry.boundingSphere === null) return;
    sphere.copy(geometry.boundingSphere).applyMatrix4(mesh.matrixWorld);
    const { radius } = sphere;
    if (!(radius <= SCENERY)) return;
    centre.copy(sphere.center).applyMatrix4(toLight);
    if (!(centre.lengthSq() < 1e8)) return;
    reach.setScalar(radius);
    box.expandByPoint(centre.clone().sub(reach)).expandByPoint(centre.add(reach));
  });
  return box;
}

export class ShadowFit {
  private fitted = new Box3();
  private due = 0;

  /** Maximum delay of an update, in milliseconds: moving objects are checked four times a second.
   */
  private static readonly PERIOD = 250;

  /** Checks, if it is due, whether the shadow of `light` still covers the scene without waste. */
  update(light: DirectionalLight, scene: Object3D, now: number, force: boolean): void {
    if (!force && now < this.due) return;
    this.due = now + ShadowFit.PERIOD;
    const { camera } = light.shadow;
    light.updateWorldMatrix(true, false);
    light.target.updateWorldMatrix(true, false);
    camera.position.setFromMatrixPosition(light.matrixWorld);
    camera.lookAt(centre.setFromMatrixPosition(light.target.matrixWorld));
    camera.updateMatrixWorld();
    toLight.copy(camera.matrixWorld).invert();
    const box = bounds(scene);
    if (box.isEmpty()) return;
    const size = box.getSize(new Vector3());
    const old = this.fitted.getSize(new Vector3());
    // Kept while it fits, because every change makes the edges of all shadows jump.
    if (!this.fitted.isEmpty() && this.fitted.containsBox(box) && old.x * old.y < 2.5 * size.x * size.y) return;
    const margin = 0.1 * Math.max(size.x, size.y) + 0.01;
    this.fitted.copy(box).expandByVector(new Vector3(margin, margin, margin));
    const mid = this.fitted.getCenter(new Vector3());
    const halfX = Math.min(WIDEST, (this.fitted.max.x - this.fitted.min.x) / 2);
    const halfY = Math.min(WIDEST, (this.fitted.max.y - this.fitted.min.y) / 2);
    camera.left = mid.x - halfX;
    camera.right = mid.x + halfX;
    camera.bottom = mid.y - halfY;
    camera.top = mid.y + halfY;
    // The camera looks along its -z. The receivers of the shadow lie behind its casters.
    camera.near = -this.fitted.max.z;
    camera.far = -this.fitted.min.z + 4 * Math.max(halfX, halfY) + 2;
    camera.updateProjectionMatrix();
    // Two pixels of the shadow map, against stripes at grazing light.
    light.shadow.normalBias = (4 * Math.max(halfX, halfY)) / light.shadow.mapSize.x;
    light.shadow.needsUpdate = true;
  }
}
